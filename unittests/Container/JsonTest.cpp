//===- JsonTest.cpp - writing JSON -*- C++ -*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "grit/Container/Json.h"
#include "gtest/gtest.h"
#include <limits>
#include <random>
#include <simdjson.h>

using namespace grit;

TEST(Json, WritesOneLine) {
  JsonWriter json;
  int64_t shape[] = {2, 3};
  json.beginObject().field("a", 1).field("b", "x").key("c").beginArray();
  json.value(true).null().value(0.5).endArray();
  json.field("shape", std::span<const int64_t>(shape));
  json.key("empty").beginObject().endObject().endObject();
  EXPECT_EQ(json.str(), R"({"a":1,"b":"x","c":[true,null,0.5],"shape":[2,3],)"
                        R"("empty":{}})");
}

TEST(Json, Indents) {
  JsonWriter json(2);
  json.beginObject().key("a").beginArray().value(1).value(2).endArray();
  json.endObject();
  EXPECT_EQ(json.str(), "{\n  \"a\": [\n    1,\n    2\n  ]\n}");
}

TEST(Json, NumbersThatJsonLacksAreNull) {
  JsonWriter json;
  json.beginArray().value(std::numeric_limits<double>::infinity());
  json.value(std::numeric_limits<double>::quiet_NaN()).endArray();
  EXPECT_EQ(json.str(), "[null,null]");
}

TEST(Json, EscapesAndRepairsText) {
  EXPECT_EQ(jsonQuote("a\"\\\n\x7f"), "\"a\\\"\\\\\\u000a\\u007f\"");
  EXPECT_EQ(jsonQuote("\xC3\xA9"), "\"\xC3\xA9\"");
  EXPECT_EQ(jsonQuote("\xC3"), "\"\\ufffd\"");
  EXPECT_EQ(jsonQuote("\xED\xA0\x80"), "\"\\ufffd\\ufffd\\ufffd\"");
}

/// Whatever the bytes, another parser must read the text, and must read valid
/// UTF-8 back unchanged.
TEST(Json, IsAlwaysReadable) {
  std::mt19937 random(1);
  simdjson::dom::parser parser;
  for (int i = 0; i < 20000; ++i) {
    std::string text(random() % 12, '\0');
    for (char &c : text)
      c = static_cast<char>(random() % 3 ? random() % 256
                                         : 0xC0 + random() % 64);
    std::string json = "{\"k\":" + jsonQuote(text) + "}";
    std::string_view read;
    ASSERT_EQ(parser.parse(json)["k"].get(read), simdjson::SUCCESS) << json;
    if (simdjson::validate_utf8(text)) {
      ASSERT_EQ(read, text);
    }
  }
}
