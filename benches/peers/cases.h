// The cases D10M, D1G and CHAIN as data, and the command line and the output that all programs of peers share.
//
// A program takes key=value arguments: case=d10m|d1g|chain, seconds=S (simulated), threads=N, count=1. It prints
// name=value pairs in one line: set-up and run time in seconds, peak memory in KiB, and with count=1 the packets that
// all links carried.
#pragma once

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

namespace bench {

constexpr int DATA_BYTES = 1000;
constexpr int HEADER_BYTES = 40;
constexpr int INITIAL_WINDOW = 10;
constexpr int MAX_WINDOW = 20000;
constexpr int WIDE = 100000;  // packets: a queue that never overflows
constexpr double MIN_RTO_S = 0.2;
constexpr double QUEUE_WEIGHT = 0.002;
constexpr double MAX_P = 0.1;

// Gentle RED in packets.
struct Red {
    double min_th;
    double max_th;
    int limit;
};

// A greedy NewReno flow between two hosts of its own, at routers `first` and `last`.
struct Flow {
    int first;
    int last;
    double start_s;
    double source_ms;  // delay of the link between source and router
    double sink_ms;
};

// Routers in a row, joined by equal links with RED; `reverse_red`: also towards the first router, else wide queues.
struct Case {
    int links;
    double rate_bps;
    double delay_ms;
    Red red;
    bool reverse_red;
    double access_bps;
    double seconds;
    std::vector<Flow> flows;
};

inline Case dumbbell(int flows, double rate_bps, double access_bps, Red red, double seconds, double every_s) {
    Case made{1, rate_bps, 10.0, red, false, access_bps, seconds, {}};
    for (int i = 0; i < flows; ++i) made.flows.push_back({0, 1, every_s * i, 2.0 + 10.0 * i / flows, 2.0});
    return made;
}

inline Case chain() {
    constexpr int LINKS = 9;
    Case made{LINKS, 100e6, 2.0, {50, 150, 400}, true, 1e9, 20.0, {}};
    auto add = [&made](int first, int last, double source_ms) {
        made.flows.push_back({first, last, 0.01 * static_cast<double>(made.flows.size()), source_ms, 1.0});
    };
    for (int i = 0; i < 20; ++i) add(0, LINKS, 1.0 + 0.25 * i);
    for (int link = 0; link < LINKS; ++link) {
        for (int i = 0; i < 5; ++i) add(link, link + 1, 2.0 + i);
    }
    return made;
}

struct Options {
    Case scenario;
    int threads = 1;
    bool count = false;
};

[[noreturn]] inline void fail(const std::string& message) {
    std::fprintf(stderr, "%s\n", message.c_str());
    std::exit(2);
}

inline Options options(int words, char** word) {
    std::string name = "d1g";
    double seconds = 0.0;
    Options found{};
    for (int i = 1; i < words; ++i) {
        const std::string argument = word[i];
        const auto equals = argument.find('=');
        const std::string key = argument.substr(0, equals);
        const std::string value = equals == std::string::npos ? "" : argument.substr(equals + 1);
        if (key == "case") name = value;
        else if (key == "seconds") seconds = std::atof(value.c_str());
        else if (key == "threads") found.threads = std::atoi(value.c_str());
        else if (key == "count") found.count = value == "1";
        else fail("not a parameter: " + argument + " (known: case, seconds, threads, count)");
    }
    if (name == "d10m") found.scenario = dumbbell(50, 10e6, 100e6, {20, 60, 240}, 500.0, 0.02);
    else if (name == "d1g") found.scenario = dumbbell(100, 1e9, 1e9, {500, 1500, 4000}, 10.0, 0.01);
    else if (name == "chain") found.scenario = chain();
    else fail("unknown case " + name + " (allowed: d10m, d1g, chain)");
    if (seconds > 0.0) found.scenario.seconds = seconds;
    return found;
}

// Wall-clock seconds since the first call.
inline double elapsed_s() {
    static const auto began = std::chrono::steady_clock::now();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
}

// Peak resident memory of this process in KiB, as Linux reports it.
inline long peak_kib() {
    std::ifstream status("/proc/self/status");
    for (std::string line; std::getline(status, line);) {
        if (line.rfind("VmHWM:", 0) == 0) return std::atol(line.c_str() + 6);
    }
    return 0;
}

inline void report(double setup_s, double end_s, std::uint64_t packet_hops) {
    std::printf("setup_s=%.6f run_s=%.6f peak_kib=%ld", setup_s, end_s - setup_s, peak_kib());
    if (packet_hops > 0) std::printf(" packet_hops=%llu", static_cast<unsigned long long>(packet_hops));
    std::printf("\n");
}

}  // namespace bench
