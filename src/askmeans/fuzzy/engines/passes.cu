// One pass of fuzzy k-means over rows on the GPU; compiled at run time by cuda.py.
//
// narrow: every warp keeps all sums in registers (few clusters and features).
// wide:   a block of four or eight warps shares them.
// center, weigh: what matrix products need besides, for all that is larger, and for float64.
//
// Products run on tensor cores. A float32 is split into two numbers of 10 bits, and three products
// of these make one of nearly 21 bits. Tensor cores cut off what
// does not fit when they add, so small terms have sums of their own and sums end after some rows.
// The distances come out in the layout in which the memberships are the left factor of the sums:
// nothing of size rows x clusters leaves the registers (narrow) or the block (wide).
//
// g = lane / 4 and t = lane % 4 are the rows and columns of the fragments of mma.m16n8k8.
typedef unsigned int u32;
#define ALL 0xffffffffu
#define UNROLL _Pragma("unroll")

__device__ __forceinline__ float rcp(float x) { float y; asm("rcp.approx.ftz.f32 %0,%1;" : "=f"(y) : "f"(x)); return y; }
__device__ __forceinline__ float lg2(float x) { float y; asm("lg2.approx.ftz.f32 %0,%1;" : "=f"(y) : "f"(x)); return y; }
__device__ __forceinline__ float ex2(float x) { float y; asm("ex2.approx.ftz.f32 %0,%1;" : "=f"(y) : "f"(x)); return y; }

#ifdef KT  // tiles of 16 clusters, DT: of 8 features (even), R: of 8 rows at a time, by each warp
constexpr int k = CLUSTERS, d = FEATURES;
constexpr int D = DT * 8, Q = DT / 2, K = KT * 16, LIVE = k <= 8 ? 1 : 2;
constexpr int STRIDE = D + 4;                                           // no two lanes meet in a bank
constexpr bool APART = DT > 4;                                          // small terms have sums of their own
constexpr bool HELD = KT * DT <= 4;                                     // centres stay in registers
constexpr int OUT = K * D + K + 1;                                      // moments, totals, objective

__device__ __forceinline__ void mma(float (&c)[4], const u32 (&a)[4], u32 b0, u32 b1) {
  asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0,%1,%2,%3},{%4,%5,%6,%7},{%8,%9},{%0,%1,%2,%3};"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3]) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}
// Cut, or rounded to nearest: then what is left out has the mean 0. Memberships may be cut: they lose no more digits so.
struct Split { u32 high, low; };
template <bool ROUNDED = true> __device__ __forceinline__ Split split(float x) {
  // With LIVE 1 the product of two low parts is not left out (below), and cut is enough.
  const u32 high = (__float_as_uint(x) + (ROUNDED && LIVE == 2 ? 0x1000u : 0u)) & 0xffffe000u;
  return {high, __float_as_uint(x - __uint_as_float(high))};
}
// A left factor, of clusters g and g + 8. With eight clusters or fewer the second half is free: it takes the low parts.
struct Left { u32 high[4], low[4]; };
template <bool ROUNDED = true> __device__ __forceinline__ Left left(float4 v) {
  const Split s[4] = {split<ROUNDED>(v.x), split<ROUNDED>(v.y), split<ROUNDED>(v.z), split<ROUNDED>(v.w)};
  if (LIVE == 1) return {{s[0].high, s[0].low, s[2].high, s[2].low}, {}};
  return {{s[0].high, s[1].high, s[2].high, s[3].high}, {s[0].low, s[1].low, s[2].low, s[3].low}};
}
// One of a product's three terms. The small ones go to `rest`, which may be the sum itself where few terms follow.
// Callers go through the terms outside and through sums inside: a sum that waits for its last term stalls the warp.
__device__ __forceinline__ void multiply(int term, float (&sum)[4], float (&rest)[4], const Left& a, Split b0, Split b1) {
  if (term == 0 && LIVE == 2) mma(rest, a.low, b0.high, b1.high);
  if (term == 1) mma(rest, a.high, b0.low, b1.low);
  if (term == 2) mma(sum, a.high, b0.high, b1.high);
}
#define TERMS UNROLL for (int term = 0; term < 3; term++)
// With both halves of a product in one sum, add them.
__device__ __forceinline__ void join(float (&s)[4]) {
  if (LIVE == 1) { s[0] += s[2]; s[1] += s[3]; }
}

// Features f to f + 3 of a row that begins at p; nothing outside the data.
__device__ __forceinline__ float4 load(const float* __restrict__ p, bool inside, int f) {
  float4 v = make_float4(0, 0, 0, 0);
#if ALIGNED
  if (inside && f < d) v = __ldcs((const float4*)(p + f));
#else
  if (inside && f < d) v.x = p[f];
  if (inside && f + 1 < d) v.y = p[f + 1];
  if (inside && f + 2 < d) v.z = p[f + 2];
  if (inside && f + 3 < d) v.w = p[f + 3];
#endif
  return v;
}
// How many of the tile's rows there are.
__device__ __forceinline__ int rows_left(long long n, long long tile, int height) {
  const long long left = n - tile * height;
  return left > height ? height : left > 0 ? (int)left : 0;
}
// (x - shift) * scale in one rounding: the scale is a power of two, and `origin` is -shift * scale.
__device__ __forceinline__ float4 inner(float4 v, const float4 origin, float scale) {
  return make_float4(fmaf(v.x, scale, origin.x), fmaf(v.y, scale, origin.y), fmaf(v.z, scale, origin.z), fmaf(v.w, scale, origin.w));
}

// Centres as left factors, -2 c, for the features that `load` gives to a lane: 16 (s / 2) + 4 t + 2 (s % 2) + {0, 1}.
__device__ __forceinline__ float4 factor_of(const float* __restrict__ C, int s, int kt, int lane) {
  const int f = 16 * (s / 2) + 4 * (lane & 3) + 2 * (s & 1), c = kt * 16 + (lane >> 2);
  float v[4];
  for (int e = 0; e < 4; e++) {
    const int cc = c + 8 * (e & 1), ff = f + (e >> 1);
    v[e] = cc < k && ff < d ? -2.f * C[cc * d + ff] : 0.f;
  }
  return make_float4(v[0], v[1], v[2], v[3]);
}
__device__ void stage(const float* __restrict__ C, const float* __restrict__ shift, float scale, float4* factor, float* origin) {
  for (int i = threadIdx.x; i < DT * KT * 32; i += blockDim.x) factor[i] = factor_of(C, (i >> 5) / KT, (i >> 5) % KT, i & 31);
  for (int f = threadIdx.x; f < D; f += blockDim.x) origin[f] = f < d ? -shift[f] * scale : 0.f;
}
__device__ __forceinline__ void norms(const float* __restrict__ NORM, int g, float (&norm)[KT][LIVE]) {
  UNROLL for (int kt = 0; kt < KT; kt++) UNROLL for (int h = 0; h < LIVE; h++) {
    const int c = kt * 16 + g + 8 * h;
    norm[kt][h] = c < k ? NORM[c] : __int_as_float(0x7f800000);  // what is no cluster is infinitely far
  }
}

// Squared distances become memberships to the power of the fuzzifier, times the rows' weights w0, w1.
// s[kt][2 h + e] is of cluster 16 kt + g + 8 h and row 2 t + e; x0, x1: squared norms of the rows.
constexpr float NEAREST = 1e-15f, FARTHEST = 1e30f;  // squares beyond these are cut; the data's spread is about 1
__device__ __forceinline__ void weigh_tile(float (&s)[KT][4], const float (&norm)[KT][LIVE],
    float x0, float x1, float w0, float w1, float p, float (&total)[KT][LIVE], float& objective) {
  float S0 = 0, S1 = 0;
  const float q = 1 / p;
  x0 = fminf(x0, FARTHEST); x1 = fminf(x1, FARTHEST);  // all stays finite, so a row of weight 0 is left out, whatever is in it
#if TWO
  UNROLL for (int kt = 0; kt < KT; kt++) UNROLL for (int h = 0; h < LIVE; h++) {
    float &a = s[kt][2 * h], &b = s[kt][2 * h + 1];
    S0 += a = rcp(fmaxf(a + (x0 + norm[kt][h]), NEAREST));
    S1 += b = rcp(fmaxf(b + (x1 + norm[kt][h]), NEAREST));
  }
  UNROLL for (int o = 4; o < 32; o *= 2) { S0 += __shfl_xor_sync(ALL, S0, o); S1 += __shfl_xor_sync(ALL, S1, o); }
  S0 = rcp(S0); S1 = rcp(S1);
  objective = fmaf(w0, S0, fmaf(w1, S1, objective));
  w0 = (w0 * S0) * S0; w1 = (w1 * S1) * S1;
  UNROLL for (int kt = 0; kt < KT; kt++) UNROLL for (int h = 0; h < LIVE; h++) {
    float &a = s[kt][2 * h], &b = s[kt][2 * h + 1];
    a = a * a * w0; b = b * b * w1;
    total[kt][h] += a + b;
  }
#else
  float m0 = 1e30f, m1 = 1e30f;
  UNROLL for (int kt = 0; kt < KT; kt++) UNROLL for (int h = 0; h < LIVE; h++) {
    float &a = s[kt][2 * h], &b = s[kt][2 * h + 1];
    a = lg2(fmaxf(a + (x0 + norm[kt][h]), NEAREST));
    b = lg2(fmaxf(b + (x1 + norm[kt][h]), NEAREST));
    m0 = fminf(m0, a); m1 = fminf(m1, b);
  }
  UNROLL for (int o = 4; o < 32; o *= 2) { m0 = fminf(m0, __shfl_xor_sync(ALL, m0, o)); m1 = fminf(m1, __shfl_xor_sync(ALL, m1, o)); }
  UNROLL for (int kt = 0; kt < KT; kt++) UNROLL for (int h = 0; h < LIVE; h++) {
    float &a = s[kt][2 * h], &b = s[kt][2 * h + 1];
    S0 += ex2(p * (a = m0 - a));
    S1 += ex2(p * (b = m1 - b));
  }
  UNROLL for (int o = 4; o < 32; o *= 2) { S0 += __shfl_xor_sync(ALL, S0, o); S1 += __shfl_xor_sync(ALL, S1, o); }
  S0 = lg2(S0); S1 = lg2(S1);
  objective = fmaf(w0, ex2(fmaf(-q, S0, m0)), fmaf(w1, ex2(fmaf(-q, S1, m1)), objective));
  const float e0 = -(1 + q) * S0, e1 = -(1 + q) * S1;
  UNROLL for (int kt = 0; kt < KT; kt++) UNROLL for (int h = 0; h < LIVE; h++) {
    float &a = s[kt][2 * h], &b = s[kt][2 * h + 1];
    a = w0 * ex2(fmaf(1 + p, a, e0)); b = w1 * ex2(fmaf(1 + p, b, e1));
    total[kt][h] += a + b;
  }
#endif
}
__device__ __forceinline__ float weight(const float* __restrict__ W, long long start, int row, int left) {
#if WEIGHTS
  return row < left ? W[start + row] : 0.f;
#else
  return row < left ? 1.f : 0.f;
#endif
}
__device__ __forceinline__ float over_t(float v) {
  v += __shfl_xor_sync(ALL, v, 1);
  return v + __shfl_xor_sync(ALL, v, 2);
}

#define ARGUMENTS const float* __restrict__ X, long long n, const float* __restrict__ C, \
    const float* __restrict__ NORM, const float* __restrict__ SHIFT, float scale, const float* __restrict__ W, float p, float* __restrict__ out

#ifdef STAGES  // how many tiles of rows are in the block's memory; features are a multiple of 32
static_assert(DT % 4 == 0);
constexpr int ROWS = WARPS * 8, WK = WARPS / WD, DTW = DT / WD, KTW = (KT + WK - 1) / WK;  // WD warps share the features

__device__ __forceinline__ void fetch(const float* __restrict__ X, long long tile, long long n, float* rows) {
  const int left = rows_left(n, tile, ROWS);
  X += tile * ROWS * d;
  for (int i = threadIdx.x; i < ROWS * (D / 4); i += WARPS * 32) {
    const int r = i / (D / 4), f = 4 * (i % (D / 4));
    float* to = rows + r * STRIDE + f;
#if ALIGNED
    const u32 at = (u32)__cvta_generic_to_shared(to);
    const bool inside = r < left && f < d;
    asm volatile("cp.async.cg.shared.global [%0],[%1],16,%2;" ::"r"(at), "l"(X + (inside ? r * d + f : 0)), "r"(inside ? 16 : 0));
#else
    *(float4*)to = load(X + r * d, r < left, f);
#endif
  }
  asm volatile("cp.async.commit_group;");
}

extern "C" __global__ void __launch_bounds__(WARPS * 32, BLOCKS) wide(ARGUMENTS) {
  extern __shared__ float4 smem[];
  float4* factor = smem;
  float4* shares = factor + DT * KT * 32;          // memberships as left factors: [row tile][kt][lane]
  float* origin = (float*)(shares + WARPS * KT * 32);
  float* rows = origin + D;
  const int lane = threadIdx.x & 31, g = lane >> 2, t = lane & 3, warp = threadIdx.x >> 5;
  stage(C, SHIFT, scale, factor, origin);
  float norm[KT][LIVE];
  norms(NORM, g, norm);
  float acc[KTW][DTW][4] = {}, total[KT][LIVE] = {}, objective = 0;
  const long long tiles = (n + ROWS - 1) / ROWS;
  const int dt0 = (warp % WD) * DTW, kt0 = (warp / WD) * KTW;
  int at = 0;
  fetch(X, blockIdx.x, n, rows);
  for (long long tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
    float* x = rows + at * ROWS * STRIDE;
    if (STAGES == 2) {
      at ^= 1;
      fetch(X, tile + gridDim.x, n, rows + at * ROWS * STRIDE);
    }
    asm volatile("cp.async.wait_group %0;" ::"n"(STAGES - 1));
    __syncthreads();
    float xx = 0, s[KT][4] = {}, rest[KT][4] = {};
    for (int q0 = 0; q0 < Q; q0 += 2) {  // 32 features: four steps, then the sum is added to the others
      Split b[2][4];
      UNROLL for (int i = 0; i < 2; i++) {
        float4* place = (float4*)(x + (warp * 8 + g) * STRIDE + 16 * (q0 + i) + 4 * t);
        const float4 v = inner(*place, *(const float4*)(origin + 16 * (q0 + i) + 4 * t), scale);
        *place = v;
        xx = fmaf(v.x, v.x, fmaf(v.y, v.y, fmaf(v.z, v.z, fmaf(v.w, v.w, xx))));
        b[i][0] = split(v.x); b[i][1] = split(v.y); b[i][2] = split(v.z); b[i][3] = split(v.w);
      }
      UNROLL for (int kt = 0; kt < KT; kt++) {
        float part[4] = {};
        UNROLL for (int i = 0; i < 2; i++) UNROLL for (int h = 0; h < 2; h++) {
          const float4 c = factor[((2 * (q0 + i) + h) * KT + kt) * 32 + lane];
          const Left a = left(c);
          TERMS multiply(term, part, rest[kt], a, b[i][2 * h], b[i][2 * h + 1]);
        }
        UNROLL for (int e = 0; e < 4; e++) s[kt][e] += part[e];
      }
    }
    const float norm2 = over_t(xx);
    const float x0 = __shfl_sync(ALL, norm2, 8 * t), x1 = __shfl_sync(ALL, norm2, 8 * t + 4);
    const int row = warp * 8 + 2 * t, left_now = rows_left(n, tile, ROWS);
    UNROLL for (int kt = 0; kt < KT; kt++) UNROLL for (int e = 0; e < 4; e++) s[kt][e] += rest[kt][e];
    join(s[0]);
    weigh_tile(s, norm, x0, x1, weight(W, tile * ROWS, row, left_now), weight(W, tile * ROWS, row + 1, left_now), p, total, objective);
    UNROLL for (int kt = 0; kt < KT; kt++) shares[(warp * KT + kt) * 32 + lane] = make_float4(s[kt][0], s[kt][2], s[kt][1], s[kt][3]);
    __syncthreads();
    UNROLL for (int a = 0; a < KTW; a++) {
      if (kt0 + a >= KT) break;
      float part[DTW][4] = {};
      UNROLL for (int r = 0; r < WARPS; r++) {
        const float4 v = shares[(r * KT + kt0 + a) * 32 + lane];
        const Left u = left<false>(v);
        Split factor[DTW][2];
        UNROLL for (int b = 0; b < DTW; b++) {
          const float* from = x + (r * 8 + 2 * t) * STRIDE + (dt0 + b) * 8 + g;
          factor[b][0] = split(from[0]); factor[b][1] = split(from[STRIDE]);
        }
        TERMS UNROLL for (int b = 0; b < DTW; b++) multiply(term, part[b], part[b], u, factor[b][0], factor[b][1]);
      }
      UNROLL for (int b = 0; b < DTW; b++) UNROLL for (int e = 0; e < 4; e++) acc[a][b][e] += part[b][e];
    }
    __syncthreads();
    if (STAGES == 1) fetch(X, tile + gridDim.x, n, rows);
  }
  asm volatile("cp.async.wait_group 0;");
  __syncthreads();
  out += (long long)blockIdx.x * OUT;
  UNROLL for (int a = 0; a < KTW; a++) if (kt0 + a < KT) UNROLL for (int b = 0; b < DTW; b++) {
    join(acc[a][b]);
    UNROLL for (int e = 0; e < 4; e++)
      out[((kt0 + a) * 16 + g + 8 * (e >> 1)) * D + (dt0 + b) * 8 + 2 * t + (e & 1)] = acc[a][b][e];
  }
  float* sum = (float*)smem;
  for (int i = threadIdx.x; i < K + 1; i += blockDim.x) sum[i] = 0;
  UNROLL for (int kt = 0; kt < KT; kt++) UNROLL for (int h = 0; h < LIVE; h++) total[kt][h] = over_t(total[kt][h]);
  objective = over_t(objective);
  for (int w = 0; w < WARPS; w++) {
    __syncthreads();
    if (w != warp) continue;
    if (t == 0) UNROLL for (int kt = 0; kt < KT; kt++) UNROLL for (int h = 0; h < LIVE; h++) sum[kt * 16 + g + 8 * h] += total[kt][h];
    if (lane == 0) sum[K] += objective;
  }
  __syncthreads();
  for (int i = threadIdx.x; i < K + 1; i += blockDim.x) out[K * D + i] = sum[i];
}
#else
extern "C" __global__ void __launch_bounds__(WARPS * 32, BLOCKS) narrow(ARGUMENTS) {
  extern __shared__ float4 smem[];
  float4* factor = smem;
  float* origin = (float*)(smem + DT * KT * 32);
  const int lane = threadIdx.x & 31, g = lane >> 2, t = lane & 3, warp = threadIdx.x >> 5;
  float* rows = origin + D + warp * R * 8 * STRIDE;
  stage(C, SHIFT, scale, factor, origin);
  float norm[KT][LIVE];
  norms(NORM, g, norm);
  __syncthreads();
  Left held[HELD ? DT : 1][HELD ? KT : 1];
  if (HELD) UNROLL for (int i = 0; i < DT; i++) UNROLL for (int kt = 0; kt < KT; kt++) {
    const float4 c = factor[(i * KT + kt) * 32 + lane];
    held[i % (HELD ? DT : 1)][kt % (HELD ? KT : 1)] = left(c);
  }
  float acc[KT][DT][4] = {}, total[KT][LIVE] = {}, objective = 0;
  const long long tiles = (n + 8 * R - 1) / (8 * R), stride = (long long)gridDim.x * WARPS;
  long long tile = (long long)blockIdx.x * WARPS + warp;
  float4 next[R][Q];
  int left_now = rows_left(n, tile, 8 * R);
  UNROLL for (int r = 0; r < R; r++) UNROLL for (int q = 0; q < Q; q++)
    next[r][q] = load(X + (tile * 8 * R + r * 8 + g) * d, r * 8 + g < left_now, 16 * q + 4 * t);
  for (; tile < tiles; tile += stride) {
    float xx[R] = {}, s[R][KT][4] = {}, rest[R][KT][4] = {};
    const int left_next = rows_left(n, tile + stride, 8 * R);
    const float* at = X + ((tile + stride) * 8 * R + g) * d;
    UNROLL for (int q = 0; q < Q; q++) {
      const float4 shift = *(const float4*)(origin + 16 * q + 4 * t);
      Split b[R][4];
      UNROLL for (int r = 0; r < R; r++) {
        const float4 v = inner(next[r][q], shift, scale);
        next[r][q] = load(at + r * 8 * d, r * 8 + g < left_next, 16 * q + 4 * t);
        xx[r] = fmaf(v.x, v.x, fmaf(v.y, v.y, fmaf(v.z, v.z, fmaf(v.w, v.w, xx[r]))));
        *(float4*)(rows + (r * 8 + g) * STRIDE + 16 * q + 4 * t) = v;
        b[r][0] = split(v.x); b[r][1] = split(v.y); b[r][2] = split(v.z); b[r][3] = split(v.w);
      }
      UNROLL for (int h = 0; h < 2; h++) UNROLL for (int kt = 0; kt < KT; kt++) {
        const float4 c = factor[((2 * q + h) * KT + kt) * 32 + lane];
        const Left a = HELD ? held[(2 * q + h) % (HELD ? DT : 1)][kt % (HELD ? KT : 1)] : left(c);
        TERMS UNROLL for (int r = 0; r < R; r++) multiply(term, s[r][kt], APART ? rest[r][kt] : s[r][kt], a, b[r][2 * h], b[r][2 * h + 1]);
      }
    }
    Left u[R][KT];
    UNROLL for (int r = 0; r < R; r++) {
      const float norm2 = over_t(xx[r]);
      const float x0 = __shfl_sync(ALL, norm2, 8 * t), x1 = __shfl_sync(ALL, norm2, 8 * t + 4);
      const long long start = tile * 8 * R;
      if (APART) UNROLL for (int kt = 0; kt < KT; kt++) UNROLL for (int e = 0; e < 4; e++) s[r][kt][e] += rest[r][kt][e];
      join(s[r][0]);
      weigh_tile(s[r], norm, x0, x1, weight(W, start, r * 8 + 2 * t, left_now), weight(W, start, r * 8 + 2 * t + 1, left_now), p, total, objective);
      UNROLL for (int kt = 0; kt < KT; kt++)
        u[r][kt] = left<false>(make_float4(s[r][kt][0], s[r][kt][2], s[r][kt][1], s[r][kt][3]));
    }
    left_now = left_next;
    __syncwarp();
    UNROLL for (int dt = 0; dt < DT; dt += 2) {
      float part[2][KT][4] = {};
      UNROLL for (int r = 0; r < R; r++) {
        const float* x = rows + (r * 8 + 2 * t) * STRIDE + dt * 8 + g;
        const Split b[2][2] = {{split(x[0]), split(x[STRIDE])}, {split(x[8]), split(x[STRIDE + 8])}};
        TERMS UNROLL for (int i = 0; i < 2; i++) UNROLL for (int kt = 0; kt < KT; kt++)
          multiply(term, part[i][kt], part[i][kt], u[r][kt], b[i][0], b[i][1]);
      }
      UNROLL for (int i = 0; i < 2; i++) UNROLL for (int kt = 0; kt < KT; kt++) UNROLL for (int e = 0; e < 4; e++)
        acc[kt][dt + i][e] += part[i][kt][e];
    }
    __syncwarp();
  }
  // The block's sums, warp after warp: the same in every run.
  __syncthreads();
  float* sum = (float*)smem;
  for (int i = threadIdx.x; i < OUT; i += blockDim.x) sum[i] = 0;
  UNROLL for (int kt = 0; kt < KT; kt++) UNROLL for (int h = 0; h < LIVE; h++) total[kt][h] = over_t(total[kt][h]);
  objective = over_t(objective);
  for (int w = 0; w < WARPS; w++) {
    __syncthreads();
    if (w != warp) continue;
    UNROLL for (int kt = 0; kt < KT; kt++) {
      UNROLL for (int dt = 0; dt < DT; dt++) UNROLL for (int e = 0; e < 4; e++)
        sum[(kt * 16 + g + 8 * (LIVE - 1) * (e >> 1)) * D + dt * 8 + 2 * t + (e & 1)] += acc[kt][dt][e];
      if (t == 0) UNROLL for (int h = 0; h < LIVE; h++) sum[K * D + kt * 16 + g + 8 * h] += total[kt][h];
    }
    if (lane == 0) sum[K * D + K] += objective;
  }
  __syncthreads();
  for (int i = threadIdx.x; i < OUT; i += blockDim.x) out[(long long)blockIdx.x * OUT + i] = sum[i];
}
#endif
#else

// Rows of a block in inner coordinates, with a 1 and zeros behind them (width columns), and their squared norms. A warp a row.
extern "C" __global__ void center(const REAL* __restrict__ X, long long rows, int d, int width, const REAL* __restrict__ SHIFT,
    REAL scale, REAL* __restrict__ out, REAL* __restrict__ norm) {
  const long long row = ((long long)blockIdx.x * blockDim.x + threadIdx.x) / 32;
  const int lane = threadIdx.x & 31;
  if (row >= rows) return;
  REAL s = 0;
  for (int f = lane; f < width; f += 32) {
    const REAL v = f < d ? (X[row * d + f] - SHIFT[f]) * scale : (REAL)(f == d);
    if (f < d) s += v * v;
    out[row * width + f] = v;
  }
  for (int o = 16; o; o /= 2) s += __shfl_xor_sync(ALL, s, o);
  if (lane == 0) norm[row] = s;
}

// Squared distances become memberships to the power of the fuzzifier, times weights, in S. A warp a row.
// Given in S as |c|^2 - 2 <x, c>, or, where centres are given, taken from differences.
extern "C" __global__ void weigh(REAL* __restrict__ S, long long rows, int k, const REAL* __restrict__ norm, const REAL* __restrict__ W,
    REAL p, REAL* __restrict__ objective, const REAL* __restrict__ C, const REAL* __restrict__ X, int d, int width) {
  const long long row = ((long long)blockIdx.x * blockDim.x + threadIdx.x) / 32;
  const int lane = threadIdx.x & 31;
  if (row >= rows) return;
  S += row * k;
  X += row * width;
  const REAL xx = norm[row], w = W ? W[row] : (REAL)1, tiny = sizeof(REAL) == 8 ? (REAL)1e-280 : (REAL)1e-30;
  REAL nearest = sizeof(REAL) == 8 ? (REAL)1e300 : (REAL)1e37;
  for (int c = lane; c < k; c += 32) {
    REAL s = tiny;
    if (C)
      for (int f = 0; f < d; f++) s += (X[f] - C[c * d + f]) * (X[f] - C[c * d + f]);
    else
      s = max(S[c] + xx, tiny);
    nearest = min(nearest, S[c] = s);
  }
  for (int o = 16; o; o /= 2) nearest = min(nearest, __shfl_xor_sync(ALL, nearest, o));
  REAL sum = 0;
  for (int c = lane; c < k; c += 32) sum += p == 1 ? nearest / S[c] : pow(nearest / S[c], p);
  for (int o = 16; o; o /= 2) sum += __shfl_xor_sync(ALL, sum, o);
  // u^m = r^(1 + p) / sum^m with r = nearest / distance and m = 1 + 1 / p
  const REAL level = w * (p == 1 ? 1 / (sum * sum) : pow(sum, -(1 + 1 / p)));
  for (int c = lane; c < k; c += 32) {
    const REAL r = nearest / S[c];
    S[c] = w > 0 ? level * (p == 1 ? r * r : pow(r, 1 + p)) : 0;
  }
  if (lane == 0) objective[row] = w > 0 ? level * sum * nearest : 0;
}
#endif

// The blocks' sums in double, always in the same order. A warp a sum.
extern "C" __global__ void total(const float* __restrict__ parts, int blocks, int width, double* __restrict__ out) {
  const int i = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
  if (i >= width) return;
  double sum = 0;
  _Pragma("unroll 8") for (int b = threadIdx.x & 31; b < blocks; b += 32) sum += parts[(long long)b * width + i];
  for (int o = 16; o; o /= 2) sum += __shfl_xor_sync(ALL, sum, o);
  if ((threadIdx.x & 31) == 0) out[i] = sum;
}
