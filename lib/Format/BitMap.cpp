//===- BitMap.cpp - which number owns which bits of a plane ---------------===//
//
// Part of the grit project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "grit/Format/BitMap.h"
#include "grit/Format/Documentation.h"
#include "grit/Format/Fields.h"
#include <algorithm>
#include <map>
#include <numeric>
#include <set>

using namespace grit;

/// Bits shown of a plane that repeats later.
static constexpr int64_t kMostBits = int64_t(1) << 16;
/// Rows of a group that repeats.
static constexpr size_t kMostRowsOfGroup = 64;

std::string_view grit::mapKindName(MapKind kind) {
  static constexpr std::string_view names[] = {"code", "scale", "offset",
                                               "sign", "entry", "position"};
  return names[static_cast<unsigned>(kind)];
}

bool MapSegment::isLike(const MapSegment &other) const {
  return high == other.high && low == other.low && field == other.field &&
         top == other.top && bottom == other.bottom &&
         values.size() == other.values.size();
}

//===----------------------------------------------------------------------===//
// Owners of bits
//===----------------------------------------------------------------------===//

namespace {

struct BitOwner {
  int field = -1;
  unsigned bit = 0; ///< of the value
  std::vector<int64_t> values;
};

class PlaneMapper {
public:
  PlaneMapper(const FormatDescription &description, unsigned plane);
  PlaneMap run();

private:
  MapField nameOf(const ArrayField &field) const;
  int64_t elementsOf(const ArrayField &field) const;
  void findPeriod();
  void mark(int number, const ArrayField &field);
  void set(int64_t bit, int field, unsigned bitOfValue, int64_t value);
  MapRow rowOf(size_t byte) const;

  const FormatDescription &description;
  const PlaneInfo &plane;
  std::vector<ArrayField> fields;
  int64_t period = 1; ///< elements
  std::vector<BitOwner> owners;
  PlaneMap map;
};

} // namespace

PlaneMapper::PlaneMapper(const FormatDescription &description, unsigned index)
    : description(description), plane(description.planes[index]) {
  for (const ArrayField &field : fieldsOf(description))
    if (field.bits->plane == index)
      fields.push_back(field);
}

MapField PlaneMapper::nameOf(const ArrayField &field) const {
  const Level &level = description.level;
  unsigned width = field.bits->isMsbStream() ? field.bits->msbStreamWidth
                                             : field.bits->storedWidth();
  if (const Factor *factor = field.factor) {
    bool isScale = std::ranges::any_of(
        description.scales, [&](const Factor &s) { return &s == factor; });
    MapKind kind = isScale ? MapKind::Scale : MapKind::Offset;
    return {kind, factor->name,
            std::string(mapKindName(kind)) + ", " +
                describeNumber(factor->number) + ", " + describeGroup(*factor),
            width};
  }
  if (description.sparsity && field.bits == &description.sparsity->indices)
    return {MapKind::Position, "pos", "position of a kept element", width};
  if (level.signs && field.bits == &level.signs->bits)
    return {MapKind::Sign, "sign",
            "signs of " + std::to_string(level.signs->group) + " elements",
            width};
  if (level.book && field.bits == &*level.book)
    return {MapKind::Entry, "entry", "entry of the table of levels", width};
  if (description.order && field.bits == &*description.order)
    return {MapKind::Position, "group", "group of a position of the axis",
            width};
  return {MapKind::Code, "q", "code, " + describeLevel(description), width};
}

/// The elements of a group, where groups that depend on the shape count one.
int64_t PlaneMapper::elementsOf(const ArrayField &field) const {
  bool isBlock = field.factor && field.factor->rows;
  return field.unit < 0 || isBlock ? 1 : field.unit;
}

/// What validate accepted repeats early enough for these products.
void PlaneMapper::findPeriod() {
  if (plane.elements == 0) {
    map.bits = plane.bits;
    return;
  }
  int64_t unit = plane.dependsOnShape() ? 1 : plane.elements;
  period = unit;
  for (const ArrayField &field : fields) {
    int64_t values = field.perUnit;
    auto follow = [&](const std::vector<Digit> &digits) {
      for (const Digit &digit : digits)
        values = std::lcm(values, digit.div * std::max<int64_t>(digit.mod, 1));
    };
    for (const BitSlice &slice : field.bits->slices)
      follow(slice.digits);
    if (field.bits->radix)
      follow(field.bits->radix->place);
    period = std::lcm(period, values / field.perUnit * elementsOf(field));
  }
  map.bits = period / unit * plane.bits;
  int64_t more = 8 / std::gcd<int64_t>(map.bits, 8);
  map.bits *= more;
  period *= more;
}

void PlaneMapper::set(int64_t bit, int field, unsigned bitOfValue,
                      int64_t value) {
  if (bit >= static_cast<int64_t>(owners.size()))
    return;
  BitOwner &owner = owners[static_cast<size_t>(bit)];
  owner.field = field;
  owner.bit = bitOfValue;
  owner.values.push_back(value);
}

void PlaneMapper::mark(int number, const ArrayField &field) {
  int64_t groups = plane.elements == 0 ? 1 : period / elementsOf(field);
  int64_t count = groups * field.perUnit;
  if (int64_t width = field.bits->msbStreamWidth) {
    count = std::min<int64_t>(count, map.bits / width);
    for (int64_t i = 0; i < count; ++i)
      for (int64_t t = 0; t < width; ++t) {
        int64_t at = i * width + t;
        set(at / 8 * 8 + 7 - at % 8, number,
            static_cast<unsigned>(width - 1 - t), i);
      }
    return;
  }
  for (int64_t i = 0; i < count; ++i)
    for (const BitSlice &slice : field.bits->slices)
      for (unsigned b = 0; b < slice.width; ++b)
        set(slice.at(i) + b, number, slice.shift + b, i);
}

MapRow PlaneMapper::rowOf(size_t byte) const {
  MapRow row;
  for (unsigned bit = 8; bit-- > 0;) {
    const BitOwner &owner = owners[byte * 8 + bit];
    if (!row.empty()) {
      MapSegment &last = row.back();
      bool isNext = last.field == owner.field && last.values == owner.values &&
                    (owner.field < 0 || last.bottom == owner.bit + 1);
      if (isNext) {
        last.low = bit;
        last.bottom = owner.bit;
        continue;
      }
    }
    row.push_back({bit, bit, owner.field, owner.values, owner.bit, owner.bit});
  }
  return row;
}

//===----------------------------------------------------------------------===//
// Repetition
//===----------------------------------------------------------------------===//

/// The step from one row to a later one, per segment; nothing when more than
/// numbers differ.
static bool stepsBetween(const MapRow &from, const MapRow &to,
                         std::vector<int64_t> &steps) {
  if (from.size() != to.size())
    return false;
  for (size_t i = 0; i < from.size(); ++i) {
    if (!from[i].isLike(to[i]))
      return false;
    for (size_t v = 0; v < from[i].values.size(); ++v)
      steps.push_back(to[i].values[v] - from[i].values[v]);
  }
  return true;
}

/// The steps from the group of `size` rows at `first` to the next one.
static bool stepsOfGroup(const std::vector<MapRow> &rows, size_t first,
                         size_t size, std::vector<int64_t> &steps) {
  steps.clear();
  if (first + 2 * size > rows.size())
    return false;
  for (size_t i = first; i < first + size; ++i)
    if (!stepsBetween(rows[i], rows[i + size], steps))
      return false;
  return true;
}

/// The run from `first` that says most rows per line.
static MapRun runFrom(const std::vector<MapRow> &rows, size_t first) {
  MapRun best{first, 1, 1, {}};
  size_t bestLines = 1;
  for (size_t size = 1; size <= kMostRowsOfGroup; ++size) {
    std::vector<int64_t> steps, next;
    if (!stepsOfGroup(rows, first, size, steps))
      continue;
    size_t count = 2;
    while (stepsOfGroup(rows, first + (count - 1) * size, size, next) &&
           next == steps)
      ++count;
    // A line takes the place of what is left out.
    size_t lines = size + 1;
    if (count * size * bestLines > best.count * best.rows * lines) {
      best = {first, size, count, {}};
      bestLines = lines;
    }
  }
  return best;
}

static void addSteps(const std::vector<MapRow> &rows, MapRun &run) {
  std::map<int, std::set<int64_t>> steps;
  for (size_t i = run.first; i < run.first + run.rows; ++i)
    for (size_t s = 0; s < rows[i].size(); ++s)
      for (size_t v = 0; v < rows[i][s].values.size(); ++v)
        steps[rows[i][s].field].insert(rows[i + run.rows][s].values[v] -
                                       rows[i][s].values[v]);
  for (const auto &[field, all] : steps)
    run.steps.emplace_back(field, std::vector<int64_t>(all.begin(), all.end()));
}

static std::vector<MapRun> findRuns(const std::vector<MapRow> &rows) {
  std::vector<MapRun> runs;
  for (size_t i = 0; i < rows.size();) {
    MapRun run = runFrom(rows, i);
    if (run.count > 1)
      addSteps(rows, run);
    i += run.rows * run.count;
    runs.push_back(std::move(run));
  }
  return runs;
}

PlaneMap PlaneMapper::run() {
  map.plane = plane.name;
  map.holds = describePlane(plane);
  findPeriod();
  map.isWhole = map.bits <= kMostBits;
  owners.resize(
      static_cast<size_t>((std::min(map.bits, kMostBits) + 7) / 8 * 8));
  for (size_t i = 0; i < fields.size(); ++i) {
    map.fields.push_back(nameOf(fields[i]));
    mark(static_cast<int>(i), fields[i]);
  }
  for (size_t byte = 0; byte < owners.size() / 8; ++byte)
    map.rows.push_back(rowOf(byte));
  map.runs = findRuns(map.rows);
  return std::move(map);
}

std::vector<PlaneMap> grit::bitMaps(const FormatDescription &description) {
  std::vector<PlaneMap> maps;
  for (unsigned i = 0; i < description.planes.size(); ++i)
    maps.push_back(PlaneMapper(description, i).run());
  return maps;
}

//===----------------------------------------------------------------------===//
// In words
//===----------------------------------------------------------------------===//

std::string grit::mapLabel(const PlaneMap &map, const MapSegment &segment) {
  if (segment.field < 0)
    return "unread";
  const MapField &field = map.fields[static_cast<size_t>(segment.field)];
  // "s0" and 1 is not "s01".
  bool endsInDigit = field.name.back() >= '0' && field.name.back() <= '9';
  std::string text;
  for (int64_t value : segment.values)
    text += (text.empty() ? "" : " ") + field.name + (endsInDigit ? "#" : "") +
            std::to_string(value);
  if (segment.top - segment.bottom + 1 == field.width)
    return text;
  text += "[" + std::to_string(segment.top);
  if (segment.bottom != segment.top)
    text += ":" + std::to_string(segment.bottom);
  return text + "]";
}

std::string grit::mapRepeat(const PlaneMap &map, const MapRun &run) {
  size_t from = run.first + run.rows, to = run.first + run.rows * run.count - 1;
  std::string text = from == to ? "byte " + std::to_string(from)
                                : "bytes " + std::to_string(from) + " to " +
                                      std::to_string(to);
  text += run.count == 2
              ? ": the same once more"
              : ": the same " + std::to_string(run.count - 1) + " times more";
  std::string changes;
  for (const auto &[field, steps] : run.steps) {
    if (field < 0 || steps == std::vector<int64_t>{0})
      continue;
    changes += ", " + map.fields[static_cast<size_t>(field)].name;
    for (size_t i = 0; i < steps.size(); ++i)
      changes += (i ? " or" : "") + std::string(steps[i] < 0 ? " - " : " + ") +
                 std::to_string(std::abs(steps[i]));
  }
  return text + changes +
         (changes.empty() || run.count == 2 ? "" : " each time");
}
