/*===- uses-c.c - an outside program on libgrit.so ------------------------===*\
|*                                                                            *|
|* Part of the grit project, under the Apache License v2.0 with LLVM          *|
|* Exceptions. See LICENSE for license information.                           *|
|* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception                    *|
|*                                                                            *|
\*===----------------------------------------------------------------------===*/

#include "grit-c/grit.h"
#include <stdio.h>
#include <stdlib.h>

/* Sixty-four small integers: MXFP4 holds each of them exactly. */
static const float cycle[8] = {0, 1, 2, 3, 4, 6, -1, -2};

int main(void) {
  float values[64], decoded[64];
  for (int i = 0; i < 64; ++i)
    values[i] = cycle[i % 8];

  grit_array_view_t view;
  grit_detail_t detail;
  int64_t shape[2] = {2, 32};
  if (grit_view_init("mxfp4", 2, shape, -1, &view, &detail) != GRIT_OK)
    goto failed;
  for (int i = 0; i < GRIT_MAXPLANES; ++i) {
    int64_t bytes = view.u.grade.plane_bytes[i];
    view.u.grade.plane[i] = bytes ? malloc((size_t)bytes) : NULL;
  }
  if (grit_quantize(values, 64, &view, &detail) != GRIT_OK ||
      grit_check_array(&view, 1, &detail) != GRIT_OK ||
      grit_dequantize(&view, decoded, 64, &detail) != GRIT_OK)
    goto failed;
  for (int i = 0; i < 64; ++i) {
    if (decoded[i] != values[i]) {
      fprintf(stderr, "element %d: %g became %g\n", i, values[i], decoded[i]);
      return 1;
    }
  }
  for (int i = 0; i < GRIT_MAXPLANES; ++i)
    free(view.u.grade.plane[i]);
  printf("grit %s\n", grit_version());
  return 0;

failed:
  fprintf(stderr, "%s\n", detail.message);
  return 1;
}
