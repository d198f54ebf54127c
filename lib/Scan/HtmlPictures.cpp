//===- HtmlPictures.cpp - pictures for the page of a report -*- C++ -*-===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "HtmlPictures.h"
#include "grit/Format/Text.h"
#include <algorithm>
#include <array>

using namespace grit;
using namespace grit::scan;

std::string grit::scan::escapeHtml(std::string_view text) {
  std::string result;
  for (char c : text) {
    auto byte = static_cast<unsigned char>(c);
    if (c == '&')
      result += "&amp;";
    else if (c == '<')
      result += "&lt;";
    else if (c == '>')
      result += "&gt;";
    else if (c == '"')
      result += "&quot;";
    else if (c == '\'')
      result += "&#39;";
    else if (byte >= 0x20 && byte < 0x7F)
      result += c;
    else
      result += "\\" + hexWord(byte, 2).substr(1);
  }
  return result;
}

static std::string number(double value) {
  char text[32];
  std::snprintf(text, sizeof(text), "%.6g", value);
  return text;
}

/// An SVG element of this size whose name is read out.
static std::string openSvg(double width, double height,
                           std::string_view title) {
  return "<svg role=\"img\" viewBox=\"0 0 " + number(width) + " " +
         number(height) + "\" style=\"max-width:" + number(width) +
         "px\"><title>" + escapeHtml(title) + "</title>\n";
}

static std::string rect(double x, double y, double width, double height,
                        std::string_view kind, std::string_view title = {}) {
  std::string text = "<rect x=\"" + number(x) + "\" y=\"" + number(y) +
                     "\" width=\"" + number(width) + "\" height=\"" +
                     number(height) + "\" class=\"" + std::string(kind) + "\"";
  if (title.empty())
    return text + "/>";
  return text + "><title>" + escapeHtml(title) + "</title></rect>";
}

static std::string label(double x, double y, std::string_view content) {
  return "<text x=\"" + number(x) + "\" y=\"" + number(y) + "\">" +
         escapeHtml(content) + "</text>";
}

//===----------------------------------------------------------------------===//
// Byte maps
//===----------------------------------------------------------------------===//

namespace {
/// Who owns a bit: a kind of number and which one of them.
struct Owner {
  const char *kind = "none";
  std::string name = "unused";
  int64_t index = -1;

  friend bool operator==(const Owner &, const Owner &) = default;
};

/// The owners of the bits of the first bytes of one plane.
class PlaneMap {
public:
  PlaneMap(unsigned plane, size_t bytes) : plane(plane), bits(bytes * 8) {}

  /// Values number 0, 1, ... as far as they lie in the map.
  void add(const BitField &field, const char *kind, const std::string &name) {
    if (field.plane != plane || field.slices.empty())
      return;
    // The same address for every index: there is one number.
    bool isAlone = !field.isMsbStream() &&
                   std::ranges::all_of(field.slices, [](const BitSlice &slice) {
                     return slice.digits.empty();
                   });
    int64_t width = std::max(1U, field.isMsbStream() ? field.msbStreamWidth
                                                     : field.width());
    int64_t count = isAlone ? 1 : static_cast<int64_t>(bits.size()) / width + 1;
    for (int64_t i = 0; i < count; ++i)
      addValue(field, {kind, name, i});
  }

  std::string draw(const std::string &title) const;

private:
  void addValue(const BitField &field, const Owner &owner) {
    if (int64_t width = field.msbStreamWidth) {
      for (int64_t t = owner.index * width; t < (owner.index + 1) * width; ++t)
        set(t / 8 * 8 + 7 - t % 8, owner);
      return;
    }
    for (const BitSlice &slice : field.slices)
      for (unsigned i = 0; i < slice.width; ++i)
        set(slice.at(owner.index) + i, owner);
  }
  void set(int64_t bit, const Owner &owner) {
    if (bit >= 0 && bit < static_cast<int64_t>(bits.size()))
      bits[static_cast<size_t>(bit)] = owner;
  }

  unsigned plane;
  std::vector<Owner> bits;
};
} // namespace

std::string PlaneMap::draw(const std::string &title) const {
  constexpr size_t kBytesPerRow = 16;
  constexpr double kBit = 6, kLeft = 34, kGap = 2, kRow = 20, kHeight = 15;
  size_t bytes = bits.size() / 8,
         rows = (bytes + kBytesPerRow - 1) / kBytesPerRow;
  std::string svg =
      openSvg(kLeft + static_cast<double>(std::min(bytes, kBytesPerRow)) *
                          (8 * kBit + kGap),
              static_cast<double>(rows) * kRow, title);
  for (size_t byte = 0; byte < bytes; ++byte) {
    double y = static_cast<double>(byte / kBytesPerRow) * kRow;
    double left =
        kLeft + static_cast<double>(byte % kBytesPerRow) * (8 * kBit + kGap);
    if (byte % kBytesPerRow == 0)
      svg += label(2, y + 11, std::to_string(byte));
    // The most significant bit is at the left.
    for (int high = 7; high >= 0;) {
      const Owner &owner = bits[byte * 8 + static_cast<size_t>(high)];
      int low = high;
      while (low > 0 && bits[byte * 8 + static_cast<size_t>(low) - 1] == owner)
        --low;
      double x = left + (7 - high) * kBit, width = (high - low + 1) * kBit;
      std::string what = owner.name;
      if (owner.index >= 0)
        what += " " + std::to_string(owner.index);
      svg += rect(x, y, width, kHeight, owner.kind,
                  what + ": byte " + std::to_string(byte) + ", bits " +
                      std::to_string(low) + " to " + std::to_string(high));
      std::string index = std::to_string(owner.index);
      if (owner.index >= 0 && width >= 7.0 * static_cast<double>(index.size()))
        svg += label(x + 2, y + 11, index);
      high = low - 1;
    }
  }
  return svg + "</svg>\n";
}

std::string grit::scan::byteMaps(const Contract &contract) {
  constexpr int64_t kFewBytes = 16, kMostBytes = 256;
  const FormatDescription &description = contract.description();
  std::string html;
  for (unsigned i = 0; i < description.planes.size(); ++i) {
    const PlaneInfo &plane = description.planes[i];
    int64_t unit = plane.bits / 8;
    int64_t shown = plane.elements == 0
                        ? std::min(std::max<int64_t>(unit, 1), kMostBytes)
                        : std::clamp(unit, kFewBytes, kMostBytes);
    PlaneMap map(i, static_cast<size_t>(shown));
    map.add(description.codes, "code", "element");
    if (const auto &signs = description.level.signs)
      map.add(signs->bits, "position", "signs");
    if (const auto &book = description.level.book)
      map.add(*book, "code", "entry");
    for (const Factor &factor : description.scales)
      map.add(factor.bits, "scale", "scale " + factor.name);
    for (const Factor &factor : description.offset.factors)
      map.add(factor.bits, "offset", "offset " + factor.name);
    if (description.sparsity)
      map.add(description.sparsity->indices, "position", "position");
    if (description.order)
      map.add(*description.order, "position", "group");
    html += "<p>Plane <code>" + escapeHtml(plane.name) + "</code>, " +
            (unit > kMostBytes || plane.elements ? "the first " : "") +
            std::to_string(shown) + " bytes:</p>\n" +
            map.draw("byte map of " + contract.displayName() + ", plane " +
                     plane.name);
  }
  return html;
}

//===----------------------------------------------------------------------===//
// Tensors
//===----------------------------------------------------------------------===//

std::string grit::scan::planeBar(const TensorReport &tensor) {
  constexpr std::array<const char *, 4> kKinds = {"code", "scale", "offset",
                                                  "position"};
  constexpr double kWidth = 480, kHeight = 14;
  uint64_t total = 0;
  for (const PlaneReport &plane : tensor.planes)
    total += plane.bytes;
  if (total == 0)
    return {};
  std::string svg = openSvg(kWidth, kHeight, "planes of " + tensor.name);
  double x = 0;
  for (size_t i = 0; i < tensor.planes.size(); ++i) {
    const PlaneReport &plane = tensor.planes[i];
    double width =
        kWidth * static_cast<double>(plane.bytes) / static_cast<double>(total);
    // A plane of a few bytes stays visible.
    svg += rect(x, 0, std::max(width, 1.0), kHeight,
                kKinds[std::min(i, kKinds.size() - 1)],
                plane.name + ": " + std::to_string(plane.bytes) + " bytes");
    x += width;
  }
  return svg + "</svg>\n";
}

std::string grit::scan::spreadPicture(const ScaleSpread &spread) {
  constexpr double kBar = 12, kHeight = 60, kLeft = 4, kFoot = 14;
  uint64_t most = 1;
  for (uint64_t count : spread.counts)
    most = std::max(most, count);
  // Room for the exponents below, even of a single bar.
  double width = std::max(
      120.0, 2 * kLeft + kBar * static_cast<double>(spread.counts.size()));
  std::string svg = openSvg(width, kHeight + kFoot, "scales " + spread.name);
  for (size_t i = 0; i < spread.counts.size(); ++i) {
    if (spread.counts[i] == 0)
      continue;
    double height =
        std::max(1.0, kHeight * static_cast<double>(spread.counts[i]) /
                          static_cast<double>(most));
    int exponent = spread.first + static_cast<int>(i);
    svg += rect(kLeft + kBar * static_cast<double>(i), kHeight - height,
                kBar - 2, height, "scale",
                "2^" + std::to_string(exponent) + " to 2^" +
                    std::to_string(exponent + 1) + ": " +
                    std::to_string(spread.counts[i]));
  }
  if (!spread.counts.empty())
    svg += label(kLeft, kHeight + 11,
                 "2^" + std::to_string(spread.first) + " to 2^" +
                     std::to_string(spread.first +
                                    static_cast<int>(spread.counts.size())));
  return svg + "</svg>\n";
}
