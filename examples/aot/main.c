/*===- main.c - call a compiled function from C ---------------------------===*\
|*                                                                            *|
|* Part of the grit project, under the Apache License v2.0 with LLVM          *|
|* Exceptions. See LICENSE for license information.                           *|
|* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception                    *|
|*                                                                            *|
|*===----------------------------------------------------------------------===*|
|*                                                                            *|
|* Quantizes a weight, calls the function that was compiled from linear.mlir, *|
|* and compares with dequantized values and a loop. Then passes operands that *|
|* the function must refuse. Links libgrit.so and nothing of LLVM.            *|
|*                                                                            *|
\*===----------------------------------------------------------------------===*/

#include "linear.h"
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { M = 5, N = 96, K = 256 };

static float x[M * K], y[M * N], weight[N * K], decoded[N * K];

/* Numbers between -1 and 1, the same in every run. */
static float number(void) {
  static uint32_t state = 1;
  state = state * 1664525u + 1013904223u;
  return (float)((double)(state >> 8) / (1 << 23) - 1.0);
}

/* Quantizes `weight` into planes of this program. */
static grit_status_t makeWeight(grit_array_view_t *w, grit_detail_t *detail) {
  const int64_t shape[2] = {N, K};
  grit_status_t status = grit_view_init("mxfp4", 2, shape, -1, w, detail);
  if (status != GRIT_OK)
    return status;
  for (int i = 0; i < GRIT_MAXPLANES; ++i)
    if (w->u.grade.plane_bytes[i] != 0)
      w->u.grade.plane[i] = malloc((size_t)w->u.grade.plane_bytes[i]);
  return grit_quantize(weight, N * K, w, detail);
}

/* The number of results outside the bound of binary32 sums in any order. */
static int countWrong(void) {
  int wrong = 0;
  for (int m = 0; m < M; ++m)
    for (int n = 0; n < N; ++n) {
      double sum = 0, size = 0;
      for (int k = 0; k < K; ++k) {
        double term = (double)x[m * K + k] * decoded[n * K + k];
        sum += term;
        size += fabs(term);
      }
      if (!(fabs(y[m * N + n] - sum) <= (K + 1) * FLT_EPSILON * size))
        ++wrong;
    }
  return wrong;
}

static void printFailure(grit_status_t status, const grit_detail_t *detail,
                         const char *location, void *user) {
  (void)user;
  printf("refused (%s) at %s\n  %s\n", grit_status_name(status), location,
         detail->message);
}

/* Calls with one thing wrong at a time. Returns how many were accepted. */
static int countAccepted(grit_tensor_view_t X, grit_array_view_t W,
                         grit_tensor_view_t Y) {
  int accepted = 0;
  grit_array_view_t flipped = W;
  flipped.u.grade.d.k0 ^= 1;
  accepted += linear(&X, &flipped, &Y) == GRIT_OK;
  grit_array_view_t cut = W;
  cut.u.grade.plane_bytes[0] -= 1;
  accepted += linear(&X, &cut, &Y) == GRIT_OK;
  grit_tensor_view_t fewerRows = Y;
  fewerRows.shape[0] = M - 1;
  accepted += linear(&X, &W, &fewerRows) == GRIT_OK;
  return accepted;
}

int main(void) {
  for (int i = 0; i < M * K; ++i)
    x[i] = number();
  for (int i = 0; i < N * K; ++i)
    weight[i] = number();

  grit_detail_t detail;
  grit_array_view_t w;
  if (makeWeight(&w, &detail) != GRIT_OK ||
      grit_dequantize(&w, decoded, N * K, &detail) != GRIT_OK) {
    fprintf(stderr, "%s\n", detail.message);
    return 1;
  }
  grit_tensor_view_t X = {x, GRIT_DTYPE_F32, 2, {M, K}};
  grit_tensor_view_t Y = {y, GRIT_DTYPE_F32, 2, {M, N}};
  if (linear(&X, &w, &Y) != GRIT_OK)
    return 1;
  int wrong = countWrong();
  printf("%d x %d results, %d outside the bound\n", M, N, wrong);

  grit_set_failure_handler(printFailure, NULL);
  int accepted = countAccepted(X, w, Y);
  printf("3 wrong calls, %d accepted\n", accepted);
  for (int i = 0; i < GRIT_MAXPLANES; ++i)
    free(w.u.grade.plane[i]);
  return wrong != 0 || accepted != 0;
}
