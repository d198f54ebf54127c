//===- Ledger.h - the record of assumptions -*- C++ -*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GRIT_LIB_FORMAT_LEDGER_H
#define GRIT_LIB_FORMAT_LEDGER_H

#include "grit/Format/Audit.h"

namespace grit::audit {

/// Appends a record and hands it to the sink, unless that would bring the rate
/// above GRIT_AUDIT_MAX_RATE.
Expected<void> append(AssumptionRecord record);

} // namespace grit::audit

#endif // GRIT_LIB_FORMAT_LEDGER_H
