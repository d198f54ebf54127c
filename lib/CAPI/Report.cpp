//===- Report.cpp - names, versions and the failure handler -*- C++ -*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "grit-c/grit.h"
#include "grit/Format/Status.h"
#include <cstdio>
#include <mutex>

const char *grit_status_name(grit_status_t status) {
  // The names are literals, so their data ends with a zero.
  return grit::statusName(static_cast<grit::Status>(status)).data();
}

const char *grit_version(void) { return GRIT_LIBRARY_VERSION; }

uint32_t grit_abi_version(void) { return GRIT_ABI_VERSION; }

static void printFailure(grit_status_t status, const grit_detail_t *detail,
                         const char *location, void *) {
  std::fprintf(stderr, "grit: %s%s%s: %s\n", location ? location : "",
               location ? ": " : "", grit_status_name(status),
               detail ? detail->message : "no detail");
}

namespace {

struct Handler {
  grit_failure_handler_t function = printFailure;
  void *user = nullptr;
};

} // namespace

static std::mutex handlerMutex;
static Handler currentHandler;

void grit_set_failure_handler(grit_failure_handler_t handler, void *user) {
  std::lock_guard<std::mutex> lock(handlerMutex);
  currentHandler = handler ? Handler{handler, user} : Handler{};
}

void grit_report_failure(grit_status_t status, const grit_detail_t *detail,
                         const char *location) {
  Handler handler;
  {
    // Called outside the lock: a handler may set another one.
    std::lock_guard<std::mutex> lock(handlerMutex);
    handler = currentHandler;
  }
  handler.function(status, detail, location, handler.user);
}

void grit_report_message(grit_status_t status, const char *message,
                         const char *location) {
  grit_detail_t detail = {};
  std::snprintf(detail.message, sizeof detail.message, "%s",
                message ? message : "");
  detail.plane = -1;
  detail.status = status;
  grit_report_failure(status, &detail, location);
}
