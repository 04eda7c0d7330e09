// Protocol of an adapter: events of a test vector on standard input, decisions on standard output (README.md).
//
// An adapter defines begin, enqueue and dequeue, and calls serve. It fills the reply, and draws with draw.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <deque>
#include <functional>
#include <iostream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

namespace peer
{
// An arriving packet; ecn is 0 (not capable), 1 (ECT(1)), 2 (ECT(0)) or 3 (CE).
struct Arrival
{
    uint64_t time_ns;
    uint64_t id;
    uint32_t length;
    uint64_t flow;
    int ecn;
};

struct Settings
{
    std::map<std::string, std::string> values;

    double number(const std::string& key) const
    {
        auto found = values.find(key);
        if (found == values.end())
        {
            std::cerr << "setting " << key << " is missing\n";
            std::exit(2);
        }
        return std::strtod(found->second.c_str(), nullptr);
    }
};

// Numbers of the current event; one more than it has is 0.5, and a difference if it matters.
inline std::deque<double> numbers;
inline unsigned drawn = 0;

inline double draw()
{
    drawn++;
    if (numbers.empty())
    {
        return 0.5;
    }
    double number = numbers.front();
    numbers.pop_front();
    return number;
}

struct Adapter
{
    std::function<void(const Settings&)> begin;
    // Return whether the packet was accepted; marked and dropped below are of all packets.
    std::function<bool(const Arrival&)> enqueue;
    // Return the id of the packet that leaves, or -1.
    std::function<int64_t(uint64_t)> dequeue;
};

// Packets that the current event dropped and marked.
inline std::vector<uint64_t> dropped, marked;

inline void list(const char* name, const std::vector<uint64_t>& ids)
{
    std::cout << " " << name;
    for (uint64_t id : ids)
    {
        std::cout << " " << id;
    }
}

inline int serve(const Adapter& adapter)
{
    std::string line;
    while (std::getline(std::cin, line))
    {
        std::istringstream words(line);
        std::string op;
        words >> op;
        dropped.clear();
        marked.clear();
        drawn = 0;
        if (op == "new")
        {
            Settings settings;
            for (std::string word; words >> word;)
            {
                auto at = word.find('=');
                settings.values[word.substr(0, at)] = word.substr(at + 1);
            }
            adapter.begin(settings);
            std::cout << "ok" << std::endl;
            continue;
        }
        Arrival arrival{};
        words >> arrival.time_ns;
        if (op == "enqueue")
        {
            words >> arrival.id >> arrival.length >> arrival.flow >> arrival.ecn;
        }
        numbers.clear();
        for (double number; words >> number;)
        {
            numbers.push_back(number);
        }
        if (op == "enqueue")
        {
            std::cout << (adapter.enqueue(arrival) ? "enqueue" : "drop");
        }
        else
        {
            int64_t id = adapter.dequeue(arrival.time_ns);
            std::cout << (id < 0 ? std::string("none") : std::to_string(id));
        }
        list("dropped", dropped);
        list("marked", marked);
        std::cout << " drawn " << drawn << std::endl;
    }
    return 0;
}
} // namespace peer
