// The limit order book of one symbol: resting orders, price levels, and the best price of either side.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace tickforge {

class Publisher;

struct Order {
    char side = ' ';
    std::uint32_t price = 0;
    std::uint32_t quantity = 0;  // as entered
    std::uint32_t open = 0;      // still resting
};

struct Level {
    std::uint32_t price = 0;
    std::uint64_t quantity = 0;
};

// Every operation returns whether it was applied; one that was not leaves the book as it was.
class OrderBook {
public:
    OrderBook(std::string symbol, Publisher& publisher);

    bool add(std::uint64_t id, char side, std::uint32_t quantity, std::uint32_t price);
    bool execute(std::uint64_t id, std::uint32_t quantity);
    bool cancel(std::uint64_t id, std::uint32_t quantity);
    bool remove(std::uint64_t id);
    bool replace(std::uint64_t id, std::uint64_t new_id, std::uint32_t quantity, std::uint32_t price);

    const std::string& symbol() const { return symbol_; }
    std::uint64_t traded() const { return traded_; }
    std::size_t order_count() const { return orders_.size(); }
    std::optional<Order> order(std::uint64_t id) const;
    std::optional<Level> best_bid() const;
    std::optional<Level> best_ask() const;

    // The best `count` levels of a side, best first.
    std::vector<Level> depth(char side, std::size_t count) const;

private:
    bool take(std::uint64_t id, std::uint32_t quantity);
    void raise_level(char side, std::uint32_t price, std::uint64_t quantity);
    void reduce_level(char side, std::uint32_t price, std::uint64_t quantity);
    void publish();

    std::string symbol_;
    Publisher& publisher_;
    std::unordered_map<std::uint64_t, Order> orders_;
    std::map<std::uint32_t, std::uint64_t, std::greater<std::uint32_t>> bids_;
    std::map<std::uint32_t, std::uint64_t> asks_;
    std::uint64_t traded_ = 0;
};

}  // namespace tickforge
