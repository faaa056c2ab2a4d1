#include "jounce/arena.hpp"
#include "jounce/strain_chain.hpp"
#include "select.hpp"

JOUNCE_BEGIN

// The coordinates of a soft body as series, and their rates.
template <class S>
static void read(const MapCall& call, std::ptrdiff_t i, const SoftBody& body, S* q, S* rate) {
  const double *v = call.states.v + i * call.states.v_step, *rest = call.states.rest + i * call.states.rest_step;
  const auto row = [&](int k) { return (k == 0 ? v : rest + std::ptrdiff_t(k - 1) * call.map->nv) + body.v; };
  for (int c = 0; c < body.n; ++c) {
    double x[padded_length<S>] = {}, dx[padded_length<S>] = {};
    x[0] = call.states.q[i * call.states.q_step + body.q + c];
    for (int k = 0; k < call.states.rows && k < S::length; ++k) {
      dx[k] = factorial.inverse[k] * row(k)[c];
      if (k + 1 < S::length) x[k + 1] = factorial.inverse[k + 1] * row(k)[c];
    }
    q[c] = S::load(x);
    rate[c] = S::load(dx);
  }
}

// The poses of a body's stations in its near end.
static void place(const CoordinateMap& map, const SoftBody& body, const double* q, double* full_q, double* frames) {
  const int n = body.n;
  for (int k = body.steps; k < body.end; ++k) {
    const StrainStep& step = map.steps[k];
    const double* numbers = map.numbers + step.linear;
    const auto combined = [&](int part) {  // a_1, a_2 or a_3
      double y[6] = {};
      for (int i = 0; i < 6; ++i) {
        if (part == 0) y[i] = numbers[i];
        for (int c = 0; c < n; ++c) y[i] += numbers[6 + 6 * (part * n + c) + i] * q[c];
      }
      using One = Series<double, 1>;
      return Screw<One>{{One(y[0]), One(y[1]), One(y[2])}, {One(y[3]), One(y[4]), One(y[5])}};
    };
    Screw<Series<double, 1>> omega = combined(0);
    if (!step.uniform) omega = Magnus<Series<double, 1>>{omega, combined(1), combined(2)}.omega();
    const Vec3<double> v{leading(omega.v.x), leading(omega.v.y), leading(omega.v.z)};
    const Vec3<double> w{leading(omega.w.x), leading(omega.w.y), leading(omega.w.z)}, x = exponential_translation(v, w);
    double* frame = frames + 7 * (k - body.steps);  // position, quaternion
    double R[9];
    if (step.from < 0) {
      frame[0] = x.x, frame[1] = x.y, frame[2] = x.z;
      exponential(w, frame + 3);
    } else {
      const double* from = frames + 7 * (step.from - body.steps);
      double turn[4];
      exponential(w, turn);
      multiply(from + 3, turn, frame + 3);
      normalize(frame + 3);
      rotation_of(from + 3, R);
      const Vec3<double> moved = apply(R, x);
      frame[0] = from[0] + moved.x, frame[1] = from[1] + moved.y, frame[2] = from[2] + moved.z;
    }
    rotation_of(frame + 3, R);
    for (int i = step.stations; i < step.end; ++i) {
      const Station& station = map.stations[i];
      double* out = full_q + station.q;
      for (int j = 0; j < 7; ++j) out[j] = frame[j];
      if (station.shift < 0) continue;
      const double *at = map.numbers + station.shift, *slope = at + 3;
      Vec3<double> o{at[0], at[1], at[2]};
      for (int c = 0; c < n; ++c) o += q[c] * Vec3<double>{slope[3 * c], slope[3 * c + 1], slope[3 * c + 2]};
      o = apply(R, o);
      out[0] += o.x, out[1] += o.y, out[2] += o.z;
    }
  }
}

// The quaternion of a rotation matrix, row-major.
static void quaternion_of(const double* R, double u[4]) {
  const double trace = R[0] + R[4] + R[8];
  int i = 0;  // which of x, y, z, w is the largest
  double largest = R[0];
  if (R[4] > largest) i = 1, largest = R[4];
  if (R[8] > largest) i = 2, largest = R[8];
  if (trace > largest) i = 3;
  if (i == 3) {
    u[0] = R[7] - R[5], u[1] = R[2] - R[6], u[2] = R[3] - R[1], u[3] = 1 + trace;
  } else {
    const int j = (i + 1) % 3, k = (i + 2) % 3;
    u[i] = 1 + R[4 * i] - R[4 * j] - R[4 * k];
    u[j] = R[3 * i + j] + R[3 * j + i];
    u[k] = R[3 * i + k] + R[3 * k + i];
    u[3] = R[3 * k + j] - R[3 * j + k];
  }
  normalize(u);
}

// The values of a recording for coordinates that are series; `values` is scratch.
template <class S>
static void replay_series(const Recording& recording, const S* q, double* values) {
  for (int c = 0; c < recording.inputs; ++c) {
    double x[padded_length<S>];
    q[c].store(x);
    for (int k = 0; k < S::length; ++k) values[std::ptrdiff_t(c) * S::length + k] = x[k];
  }
  replay(recording, S::length, values);
}

template <class S>
static void store(const S& value, int rows, std::ptrdiff_t stride, double* out) {
  double c[padded_length<S>];
  value.store(c);
  for (int k = 0; k < rows; ++k) out[k * stride] = factorial.value[k] * c[k];
}

template <class S>
struct MapKernelOf {
  template <class Arena>
  struct Space {
    StrainChain<S> chain;
    S* rate;
    double *frames, *recorded;
    Space(const CoordinateMap& map, Arena& arena)
        : chain(map, arena),
          rate(arena.template take<S>(map.widest)),
          frames(arena.template take<double>(std::size_t(7) * map.longest)),
          recorded(arena.template take<double>(std::size_t(map.recorded_values) * S::length)) {}
  };

  static std::size_t workspace(const CoordinateMap& map) {
    ArenaSize size;
    Space<ArenaSize>(map, size);
    return size.bytes();
  }

  static void run(const MapCall& call, std::ptrdiff_t begin, std::ptrdiff_t end, void* block) {
    const CoordinateMap& map = *call.map;
    Arena arena(block);
    Space<Arena> space(map, arena);
    for (std::ptrdiff_t i = begin; i < end; ++i) {
      const double* q = call.states.q + i * call.states.q_step;
      double *full_q = call.q + i * map.full_nq, *full_v = call.v + i * call.states.rows * map.full_nv,
             *columns = call.columns + i * call.rows * map.columns;
      copy(call, i, full_q, full_v);
      for (int j = 0; j < map.body_count; ++j) {
        const SoftBody& body = map.bodies[j];
        read(call, i, body, space.chain.coordinates(), space.rate);
        const auto write = [&](const Station& station, const auto& column) {
          Screw<S> twist{};
          for (int c = 0; c < body.n; ++c) {
            const Screw<S>& J = column(c);
            if (call.states.rows > 0) {
              const Screw<S> part = scaled(as_factor(space.rate[c]), J);
              twist = c == 0 ? part : twist + part;
            }
            put(J, call.rows, map.columns, columns + station.column + 6 * c);
          }
          put(twist, call.states.rows, map.full_nv, full_v + station.v);
        };
        if (body.recorded >= 0) {
          run_recorded(map, body, space, full_q, write);
        } else {
          place(map, body, q + body.q, full_q, space.frames);
          if (call.states.rows > 0 || call.rows > 0) space.chain.run(body, write);
        }
      }
    }
  }

  template <class Space, class With>
  static void run_recorded(const CoordinateMap& map, const SoftBody& body, Space& space, double* full_q, const With& with) {
    const Recording& recording = map.recordings[body.recorded];
    replay_series(recording, space.chain.coordinates(), space.recorded);
    const StrainStep& step = map.steps[body.steps];
    const std::int32_t* out = recording.outputs;
    for (int i = step.stations; i < step.end; ++i, out += 12 + 6 * body.n) {
      const Station& station = map.stations[i];
      const auto series = [&](int k) { return space.recorded + std::ptrdiff_t(out[k]) * S::length; };
      double R[9];
      for (int k = 0; k < 3; ++k) full_q[station.q + k] = series(k)[0];
      for (int k = 0; k < 9; ++k) R[k] = series(3 + k)[0];
      quaternion_of(R, full_q + station.q + 3);
      with(station, [&](int c) {
        const int at = 12 + 6 * c;
        return Screw<S>{{loaded(series(at)), loaded(series(at + 1)), loaded(series(at + 2))},
                        {loaded(series(at + 3)), loaded(series(at + 4)), loaded(series(at + 5))}};
      });
    }
  }

  static S loaded(const double* x) {
    double padded[padded_length<S>] = {};
    for (int k = 0; k < S::length; ++k) padded[k] = x[k];
    return S::load(padded);
  }

  static void put(const Screw<S>& a, int rows, std::ptrdiff_t stride, double* out) {
    const S* part[6] = {&a.v.x, &a.v.y, &a.v.z, &a.w.x, &a.w.y, &a.w.z};
    for (int j = 0; j < 6; ++j) store(*part[j], rows, stride, out + j);
  }

  static void copy(const MapCall& call, std::ptrdiff_t i, double* full_q, double* full_v) {
    const CoordinateMap& map = *call.map;
    const double *q = call.states.q + i * call.states.q_step, *v = call.states.v + i * call.states.v_step,
                 *rest = call.states.rest + i * call.states.rest_step;
    for (int j = 0; j < map.position_count; ++j) {
      const Copy& c = map.positions[j];
      full_q[c.to] = c.ratio * q[c.from] + c.offset;
    }
    for (int k = 0; k < call.states.rows; ++k, full_v += map.full_nv) {
      const double* row = k == 0 ? v : rest + std::ptrdiff_t(k - 1) * map.nv;
      for (int j = 0; j < map.velocity_count; ++j) {
        const Copy& c = map.velocities[j];
        full_v[c.to] = c.ratio * row[c.from];
      }
    }
  }

  static constexpr MapKernel kernel{workspace, run};
};

// The derivatives of the Jacobians by the coordinates, `width` of them at a time.
template <int K>
struct MapSecondsKernel {
  static constexpr int width = native_width < 4 ? 4 : native_width;
  using T = Dual<width>;
  using S = Series<T, K>;
  using Plain = Series<double, K>;

  template <class Arena>
  struct Space {
    StrainChain<S> chain;
    Plain *q, *rate;
    double* recorded;
    Space(const CoordinateMap& map, Arena& arena)
        : chain(map, arena),
          q(arena.template take<Plain>(map.widest)),
          rate(arena.template take<Plain>(map.widest)),
          recorded(arena.template take<double>(std::size_t(map.recorded_values) * K)) {}
  };

  static std::size_t workspace(const CoordinateMap& map) {
    ArenaSize size;
    Space<ArenaSize>(map, size);
    return size.bytes();
  }

  // Into call.columns, (rows, seconds) a state.
  static void run(const MapCall& call, std::ptrdiff_t begin, std::ptrdiff_t end, void* block) {
    const CoordinateMap& map = *call.map;
    Arena arena(block);
    Space<Arena> space(map, arena);
    for (std::ptrdiff_t i = begin; i < end; ++i) {
      double* out = call.columns + i * call.rows * map.seconds;
      for (int j = 0; j < map.body_count; ++j) {
        const SoftBody& body = map.bodies[j];
        read(call, i, body, space.q, space.rate);
        if (body.recorded >= 0) {
          const Recording& recording = map.recordings[body.recorded + 1];
          replay_series(recording, space.q, space.recorded);
          const int begin = map.stations[map.steps[body.steps].stations].second;
          for (int k = 0; k < call.rows; ++k)
            for (int j = 0; j < recording.output_count; ++j)
              out[std::ptrdiff_t(k) * map.seconds + begin + j] =
                  factorial.value[k] * space.recorded[std::ptrdiff_t(recording.outputs[j]) * K + k];
          continue;
        }
        for (int first = 0; first < body.n; first += width) {
          for (int c = 0; c < body.n; ++c)
            for (int k = 0; k < K; ++k) {
              T& x = space.chain.coordinates()[c].c[k];
              x = T(space.q[c].c[k]);
              if (k == 0 && c >= first && c < first + width) x.d.set(c - first, 1.0);
            }
          space.chain.run(body, [&](const Station& station, const auto& column) {
            for (int d = 0; d < body.n; ++d) {
              const Screw<S>& J = column(d);
              const S* part[6] = {&J.v.x, &J.v.y, &J.v.z, &J.w.x, &J.w.y, &J.w.z};
              for (int k = 0; k < call.rows; ++k)
                for (int c = first; c < body.n && c < first + width; ++c)
                  for (int p = 0; p < 6; ++p)
                    out[std::ptrdiff_t(k) * map.seconds + station.second + 6 * (body.n * c + d) + p] =
                        factorial.value[k] * part[p]->c[k].d[c - first];
            }
          });
        }
      }
    }
  }

  static constexpr MapKernel kernel{workspace, run};
};

MapKernel coordinate_map_kernel(int coefficients) {
  if (coefficients <= 1) return MapKernelOf<Series<double, 1>>::kernel;
  if (coefficients <= 2) return MapKernelOf<Series<double, 2>>::kernel;
  if (coefficients <= 3) return MapKernelOf<Series<double, 3>>::kernel;
  if (coefficients <= 8) return MapKernelOf<SingleRing<6>::Velocity>::kernel;
  if constexpr (generic_build)
    return MapKernelOf<SingleRing<30>::Velocity>::kernel;
  else
    return generic_kernels().coordinate_map(coefficients);
}

MapKernel coordinate_map_seconds_kernel(int coefficients) {
  if (coefficients <= 2) return MapSecondsKernel<2>::kernel;
  if constexpr (generic_build)
    return coefficients <= 8 ? MapSecondsKernel<8>::kernel : MapSecondsKernel<32>::kernel;
  else
    return generic_kernels().coordinate_map_seconds(coefficients);
}

JOUNCE_END
