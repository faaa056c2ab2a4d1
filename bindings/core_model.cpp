#include "core_model.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <string>

#include "arguments.hpp"

namespace jounce {

namespace {

using Integers = std::vector<std::int32_t>;

Integers integers(const nb::dict& from, const char* key) { return nb::cast<Integers>(from[key]); }

std::vector<double> numbers(const nb::dict& from, const char* key, std::size_t count) {
  const Input in(from[key], key, 0);
  if (std::size_t(in.total()) != count)
    fail(std::string("compiled model: ") + key + " has " + std::to_string(in.total()) + " numbers, expected " + std::to_string(count));
  in.expect_finite();
  return {in.data(), in.data() + count};
}

void expect(bool condition, const char* what) {
  if (!condition) fail(std::string("compiled model: ") + what);
}

int positions(Joint j) { return j == Joint::free ? 7 : j == Joint::spherical ? 4 : 1; }

}  // namespace

CoreModel::CoreModel(nb::dict c) {
  const Integers joint = integers(c, "joint"), parent = integers(c, "parent"), frame_body = integers(c, "frame_body");
  const std::size_t n = joint.size(), m = frame_body.size();
  expect(parent.size() == n, "joint and parent differ in length");
  const auto R = numbers(c, "rotation", 9 * n), p = numbers(c, "position", 3 * n), slide = numbers(c, "slide", n);
  const auto mass = numbers(c, "mass", n), first = numbers(c, "first_moment", 3 * n), second = numbers(c, "second_moment", 6 * n);
  int nq = 0, nv = 0;
  bodies_.resize(n);
  for (std::size_t i = 0; i < n; ++i) {
    Body& b = bodies_[i];
    expect(0 <= joint[i] && joint[i] <= int(Joint::free), "unknown joint");
    expect(-1 <= parent[i] && parent[i] < int(i), "a parent must come before its children");
    b.joint = Joint(joint[i]);
    b.parent = parent[i];
    b.q = nq;
    b.v = nv;
    std::memcpy(b.R, &R[9 * i], sizeof b.R);
    std::memcpy(b.p, &p[3 * i], sizeof b.p);
    b.slide = slide[i];
    b.mass = mass[i];
    std::memcpy(b.first, &first[3 * i], sizeof b.first);
    std::memcpy(b.second, &second[6 * i], sizeof b.second);
    b.massless = b.mass == 0;
    for (double x : b.second) b.massless &= x == 0;
    if (b.joint == Joint::free || b.joint == Joint::spherical) quaternions_.push_back(nq + (b.joint == Joint::free ? 3 : 0));
    nq += positions(b.joint);
    nv += freedom(b.joint);
  }
  Integers carried(n);  // columns of all that a body carries, its own included
  for (std::size_t i = 0; i < n; ++i) {
    carried[i] = freedom(bodies_[i].joint);
    bodies_[i].end = bodies_[i].v + carried[i];
  }
  bool depth_first = true;
  for (std::size_t i = n; i-- > 0;) {
    depth_first &= bodies_[i].end - bodies_[i].v == carried[i];
    if (const int up = bodies_[i].parent; up >= 0) {
      carried[up] += carried[i];
      bodies_[up].end = std::max(bodies_[up].end, bodies_[i].end);
    }
  }

  const auto frame_R = numbers(c, "frame_rotation", 9 * m), frame_p = numbers(c, "frame_position", 3 * m);
  frames_.resize(m);
  for (std::size_t i = 0; i < m; ++i) {
    expect(-1 <= frame_body[i] && frame_body[i] < int(n), "a frame on no body");
    frames_[i].body = frame_body[i];
    std::memcpy(frames_[i].R, &frame_R[9 * i], sizeof frames_[i].R);
    std::memcpy(frames_[i].p, &frame_p[3 * i], sizeof frames_[i].p);
  }
  body_count_ = nb::cast<int>(c["body_count"]);
  expect(0 <= body_count_ && body_count_ <= int(m), "body_count");

  const Integers free_body = integers(c, "free_body");
  const auto free_R = numbers(c, "free_rotation", 9 * free_body.size()), free_p = numbers(c, "free_position", 3 * free_body.size());
  for (std::size_t i = 0; i < free_body.size(); ++i) {
    expect(0 <= free_body[i] && free_body[i] < int(n) && bodies_[free_body[i]].joint == Joint::free, "free_body");
    FreeJoint f{bodies_[free_body[i]].q, bodies_[free_body[i]].v, {}, {}};
    std::memcpy(f.R, &free_R[9 * i], sizeof f.R);
    std::memcpy(f.p, &free_p[3 * i], sizeof f.p);
    free_joints_.push_back(f);
  }

  armature_ = numbers(c, "armature", nv);
  damping_ = numbers(c, "damping", nv);
  stiffness_ = numbers(c, "stiffness", nv);
  rest_ = numbers(c, "rest", nv);
  bool passive = false;
  for (int i = 0; i < nv; ++i) passive |= armature_[i] != 0 || damping_[i] != 0 || stiffness_[i] != 0;
  const auto gravity = numbers(c, "gravity", 3);
  tree_ = {bodies_.data(),
           free_joints_.data(),
           quaternions_.data(),
           armature_.data(),
           damping_.data(),
           stiffness_.data(),
           rest_.data(),
           std::int32_t(n),
           std::int32_t(free_joints_.size()),
           std::int32_t(quaternions_.size()),
           nq,
           nv,
           passive,
           depth_first,
           {gravity[0], gravity[1], gravity[2]}};
}

namespace {

std::vector<const Kernels*> runnable() {
  std::vector<const Kernels*> list{&generic_kernels()};
#ifdef JOUNCE_X86
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
    list.push_back(&avx2_kernels());
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
        __builtin_cpu_supports("avx512bw"))
      list.push_back(&avx512_kernels());
  }
#endif
  return list;
}

std::atomic<const Kernels*> chosen{nullptr};

}  // namespace

const Kernels& kernels() {
  const Kernels* k = chosen.load(std::memory_order_relaxed);
  if (!k) chosen = k = runnable().back();
  return *k;
}

void choose_kernels(const char* name) {
  std::string names;
  for (const Kernels* k : runnable()) {
    if (!std::strcmp(k->name, name)) {
      chosen = k;
      return;
    }
    names += (names.empty() ? "" : ", ") + std::string(k->name);
  }
  fail(std::string("no kernels for '") + name + "' on this machine, which has " + names);
}

std::vector<const char*> available_kernels() {
  std::vector<const char*> names;
  for (const Kernels* k : runnable()) names.push_back(k->name);
  return names;
}

}  // namespace jounce
