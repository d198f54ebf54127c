//===- ShowSvg.cpp - bit maps as a picture --------------------------------===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ShowSvg.h"
#include "Output.h"
#include <algorithm>

using namespace grit;
using namespace grit::tool;

static constexpr int kLeft = 52, kBit = 56, kRow = 24, kLine = 20,
                     kWidth = kLeft + 8 * kBit + 12;

/// Dark text on light fills of any page, or the other way round.
static constexpr const char *kStyle = R"(<style>
svg{background:#fff}
text{font:12px ui-monospace,monospace;fill:#1b1f24}
.title{font-weight:bold}
rect{stroke:#8c959f;stroke-width:1}
.code{fill:#cfe4ff}.scale{fill:#ffe2b8}.offset{fill:#d6f2d0}
.sign{fill:#f3d3ea}.entry{fill:#dcd6f7}.position{fill:#fbd5d0}
.unread{fill:#fff;stroke-dasharray:3 2}
@media (prefers-color-scheme:dark){
svg{background:#0d1117}
text{fill:#e6edf3}
rect{stroke:#6e7681}
.code{fill:#16406e}.scale{fill:#6b4410}.offset{fill:#1f5130}
.sign{fill:#66305a}.entry{fill:#423a78}.position{fill:#74302a}
.unread{fill:#0d1117}
}
</style>
)";

/// Text as it may stand in XML; printable() took what may not.
static std::string escaped(std::string_view text) {
  std::string result;
  for (char c : printable(text))
    switch (c) {
    case '&':
      result += "&amp;";
      break;
    case '<':
      result += "&lt;";
      break;
    case '>':
      result += "&gt;";
      break;
    case '"':
      result += "&quot;";
      break;
    default:
      result += c;
    }
  return result;
}

namespace {

/// Draws from the top down.
class Picture {
public:
  void line(const std::string &text, int left = 12, const char *kind = "note") {
    body += "<text class=\"" + std::string(kind) + "\" x=\"" +
            std::to_string(left) + "\" y=\"" + std::to_string(y + 15) + "\">" +
            escaped(text) + "</text>\n";
    // A character of the font is about 7.3 wide.
    int size = static_cast<int>(printable(text).size());
    width = std::max(width, left + size * 15 / 2 + 12);
    y += kLine;
  }
  void gap() { y += kLine / 2; }
  void row(const PlaneMap &map, size_t byte);
  void key(const MapField &field);
  std::string finish(const std::string &title) const;

private:
  void box(int left, int boxWidth, std::string_view kind,
           const std::string &title) {
    body += "<rect class=\"" + std::string(kind) + "\" x=\"" +
            std::to_string(left) + "\" y=\"" + std::to_string(y) +
            "\" width=\"" + std::to_string(boxWidth) + "\" height=\"" +
            std::to_string(kRow) + "\"><title>" + escaped(title) +
            "</title></rect>\n";
  }
  void text(int left, const std::string &content) {
    body += "<text x=\"" + std::to_string(left) + "\" y=\"" +
            std::to_string(y + 16) + "\">" + escaped(content) + "</text>\n";
  }

  std::string body;
  int y = 8, width = kWidth;
};

} // namespace

void Picture::row(const PlaneMap &map, size_t byte) {
  text(12, std::to_string(byte));
  for (const MapSegment &segment : map.rows[byte]) {
    int left = kLeft + static_cast<int>(7 - segment.high) * kBit;
    int boxWidth = static_cast<int>(segment.high - segment.low + 1) * kBit;
    bool isRead = segment.field >= 0;
    std::string label = mapLabel(map, segment);
    box(left, boxWidth,
        isRead
            ? mapKindName(map.fields[static_cast<size_t>(segment.field)].kind)
            : "unread",
        label + ": byte " + std::to_string(byte) + ", bits " +
            std::to_string(segment.low) + " to " +
            std::to_string(segment.high));
    // A label that is too long is cut; the title has all of it.
    size_t room = static_cast<size_t>(boxWidth - 6) * 2 / 15;
    if (label.size() > room)
      label = label.substr(0, room - 1) + "~";
    text(left + 4, label);
  }
  y += kRow;
}

void Picture::key(const MapField &field) {
  box(12, kRow, mapKindName(field.kind), field.name);
  y += 2;
  line(field.name + ": " + field.summary, 44);
  y += kRow - kLine + 2;
}

std::string Picture::finish(const std::string &title) const {
  std::string size = "width=\"" + std::to_string(width) + "\" height=\"" +
                     std::to_string(y + 8) + "\" viewBox=\"0 0 " +
                     std::to_string(width) + " " + std::to_string(y + 8) + "\"";
  return "<svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" " + size +
         ">\n<title>" + escaped(title) + "</title>\n" + kStyle + body +
         "</svg>\n";
}

std::string grit::tool::drawBitMaps(const std::string &name,
                                    const std::string &summary,
                                    const std::vector<PlaneMap> &maps) {
  Picture picture;
  picture.line(name, 12, "title");
  if (!summary.empty())
    picture.line(summary);
  for (const PlaneMap &map : maps) {
    picture.gap();
    picture.line("plane " + map.plane + ": " + map.holds, 12, "title");
    for (const MapRun &run : map.runs) {
      for (size_t i = run.first; i < run.first + run.rows; ++i)
        picture.row(map, i);
      if (run.count > 1)
        picture.line(mapRepeat(map, run), kLeft);
    }
    picture.gap();
    for (const MapField &field : map.fields)
      picture.key(field);
  }
  return picture.finish("bit map of " + name);
}
