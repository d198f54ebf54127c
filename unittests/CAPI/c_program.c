//===- c_program.c - a C program that uses grit-c/grit.h -*- C -*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Compiled as strict C11: the header must not need C++ or extensions.

#include "grit-c/grit.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define REQUIRE(condition)                                                     \
  do {                                                                         \
    if (!(condition)) {                                                        \
      fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);          \
      exit(1);                                                                 \
    }                                                                          \
  } while (0)

static int failures_seen = 0;

static void count_failure(grit_status_t status, const grit_detail_t *detail,
                          const char *location, void *user) {
  REQUIRE(status == GRIT_SIZE_MISMATCH);
  REQUIRE(detail->status == status);
  REQUIRE(strcmp(location, "matmul") == 0);
  REQUIRE(user == &failures_seen);
  ++failures_seen;
}

// Quantizes a matrix under `contract`, checks it and reads it back.
static void round_trip(const char *contract, int32_t tag) {
  enum { ROWS = 4, COLS = 256, COUNT = ROWS * COLS };
  static float values[COUNT], again[COUNT];
  const int64_t shape[2] = {ROWS, COLS};
  grit_array_view_t view;
  grit_detail_t detail;
  int64_t sizes[GRIT_MAXPLANES];
  int32_t num_planes = 0;
  for (int i = 0; i < COUNT; ++i)
    values[i] = (float)((i * 37) % 64 - 32) / 8.0f;

  REQUIRE(grit_plane_sizes(contract, 2, shape, -1, sizes, &num_planes,
                           &detail) == GRIT_OK);
  REQUIRE(grit_view_init(contract, 2, shape, -1, &view, &detail) == GRIT_OK);
  REQUIRE(view.tag == tag);
  void **planes =
      tag == GRIT_ARRAY_GRADE ? view.u.grade.plane : view.u.foreign.plane;
  for (int32_t i = 0; i < num_planes; ++i)
    if (sizes[i] != 0)
      planes[i] = malloc((size_t)sizes[i]);

  REQUIRE(grit_quantize(values, COUNT, &view, &detail) == GRIT_OK);
  REQUIRE(grit_check_array(&view, 2, &detail) == GRIT_OK);
  REQUIRE(detail.message[0] == 0 && detail.plane == -1);
  REQUIRE(grit_dequantize(&view, again, COUNT, &detail) == GRIT_OK);
  for (int i = 0; i < COUNT; ++i)
    REQUIRE(again[i] - values[i] < 1.0f && values[i] - again[i] < 1.0f);

  grit_expect_t expect = {"w", 0, 2, 1, shape, {0, 0, 0}};
  REQUIRE(grit_contract_id(contract, &expect.contract_id, NULL) == GRIT_OK);
  REQUIRE(grit_check_expected(&view, &expect, 1, &detail) == GRIT_OK);
  const int64_t other[2] = {ROWS, -1};
  expect.shape = other;
  REQUIRE(grit_check_expected(&view, &expect, 1, &detail) == GRIT_OK);
  expect.rank = 1;
  REQUIRE(grit_check_expected(&view, &expect, 1, &detail) ==
          GRIT_SIZE_MISMATCH);
  REQUIRE(strstr(detail.message, "operand 'w'") != NULL);
  REQUIRE(detail.expected == 1 && detail.actual == 2);
  grit_report_failure(detail.status, &detail, "matmul");

  for (int32_t i = 0; i < GRIT_MAXPLANES; ++i)
    free(planes[i]);
}

/* The macro takes a literal; the mark stays until the bytes were compared. */
static void assume_and_verify(void) {
  static unsigned char data[16], scales[1];
  const int64_t shape[1] = {32};
  grit_array_view_t array, reference;
  grit_assumptions_t assumed = 0;
  grit_detail_t detail;
  REQUIRE(grit_register_grade("mine",
                              "grit1(e=e2m1,k0=32,s0=e8m0,esr=ocpmx,ao=seq)",
                              NULL, &detail) == GRIT_OK);
  REQUIRE(grit_view_init("mine", 1, shape, 0, &array, &detail) == GRIT_OK);
  array.u.grade.plane[0] = data;
  array.u.grade.plane[1] = scales;
  reference = array;
  REQUIRE(GRIT_ASSUME_PLACEMENT(&array.u.grade, &assumed, GRIT_ROLE_DATA,
                                GRIT_PLACEMENT_COL_MAJOR, "one row",
                                &detail) == GRIT_OK);
  REQUIRE(array.u.grade.d.note == GRIT_NOTE_ASSUMED);
  REQUIRE(assumed == 1u << GRIT_ROLE_DATA);
  REQUIRE(grit_verify_placement(&array.u.grade, &assumed, GRIT_ROLE_DATA,
                                &reference.u.grade, &detail) == GRIT_OK);
  REQUIRE(array.u.grade.d.note == 0 && assumed == 0);
  REQUIRE(grit_audit_records() == 1);
}

int main(void) {
  REQUIRE(grit_abi_version() == GRIT_ABI_VERSION);
  REQUIRE(strlen(grit_version()) > 0);
  REQUIRE(strcmp(grit_status_name(GRIT_GRADE_UNKNOWN), "GradeUnknown") == 0);
  grit_set_failure_handler(count_failure, &failures_seen);
  round_trip("mxfp4", GRIT_ARRAY_GRADE);
  round_trip("GRADE_NVF4", GRIT_ARRAY_GRADE);
  round_trip("q4ks", GRIT_ARRAY_GRADE);
  round_trip("gguf.q4_0", GRIT_ARRAY_FOREIGN);
  round_trip("hurray.nf4", GRIT_ARRAY_FOREIGN);
  REQUIRE(failures_seen == 5);
  grit_report_message(GRIT_SIZE_MISMATCH, "a row", "matmul");
  REQUIRE(failures_seen == 6);
  assume_and_verify();
  grit_set_failure_handler(NULL, NULL);
  puts("passed");
  return 0;
}
