#include "order_book.h"

#include <utility>

#include "publisher.h"

namespace tickforge {

namespace {

// From one dollar on, prices move in whole cents.
bool valid_price(std::uint32_t price) {
    return price > 0 && (price < 10000 || price % 100 == 0);
}

template <typename Levels>
void reduce(Levels& levels, std::uint32_t price, std::uint64_t quantity) {
    const auto it = levels.find(price);
    if (it == levels.end()) return;
    if (it->second <= quantity) {
        levels.erase(it);
    } else {
        it->second -= quantity;
    }
}

template <typename Levels>
std::optional<Level> best(const Levels& levels) {
    if (levels.empty()) return std::nullopt;
    return Level{levels.begin()->first, levels.begin()->second};
}

template <typename Levels>
std::vector<Level> top(const Levels& levels, std::size_t count) {
    std::vector<Level> result;
    for (const auto& [price, quantity] : levels) {
        if (result.size() == count) break;
        result.push_back(Level{price, quantity});
    }
    return result;
}

}  // namespace

OrderBook::OrderBook(std::string symbol, Publisher& publisher) : symbol_(std::move(symbol)), publisher_(publisher) {}

bool OrderBook::add(std::uint64_t id, char side, std::uint32_t quantity, std::uint32_t price) {
    if (quantity == 0 || !valid_price(price)) return false;
    if (!orders_.emplace(id, Order{side, price, quantity, quantity}).second) return false;
    raise_level(side, price, quantity);
    publish();
    return true;
}

bool OrderBook::execute(std::uint64_t id, std::uint32_t quantity) {
    if (!take(id, quantity)) return false;
    traded_ += quantity;
    publish();
    return true;
}

bool OrderBook::cancel(std::uint64_t id, std::uint32_t quantity) {
    if (!take(id, quantity)) return false;
    publish();
    return true;
}

bool OrderBook::remove(std::uint64_t id) {
    const auto it = orders_.find(id);
    if (it == orders_.end()) return false;
    const Order gone = it->second;
    orders_.erase(it);
    reduce_level(gone.side, gone.price, gone.open);
    publish();
    return true;
}

bool OrderBook::replace(std::uint64_t id, std::uint64_t new_id, std::uint32_t quantity, std::uint32_t price) {
    const auto it = orders_.find(id);
    if (it == orders_.end() || orders_.count(new_id) != 0) return false;
    if (quantity == 0 || !valid_price(price)) return false;
    const Order old = it->second;
    orders_.erase(it);
    reduce_level(old.side, old.price, old.quantity);
    orders_.emplace(new_id, Order{old.side, price, quantity, quantity});
    raise_level(old.side, price, quantity);
    publish();
    return true;
}

std::optional<Order> OrderBook::order(std::uint64_t id) const {
    const auto it = orders_.find(id);
    if (it == orders_.end()) return std::nullopt;
    return it->second;
}

std::optional<Level> OrderBook::best_bid() const { return best(bids_); }

std::optional<Level> OrderBook::best_ask() const { return best(asks_); }

std::vector<Level> OrderBook::depth(char side, std::size_t count) const {
    return side == 'B' ? top(bids_, count) : top(asks_, count);
}

// Takes `quantity` off a resting order; an order with nothing left leaves the book.
bool OrderBook::take(std::uint64_t id, std::uint32_t quantity) {
    const auto it = orders_.find(id);
    if (it == orders_.end() || quantity == 0 || quantity > it->second.open) return false;
    Order& order = it->second;
    reduce_level(order.side, order.price, quantity);
    order.open -= quantity;
    if (order.open == 0) orders_.erase(it);
    return true;
}

void OrderBook::raise_level(char side, std::uint32_t price, std::uint64_t quantity) {
    if (side == 'B') {
        bids_[price] += quantity;
    } else {
        asks_[price] += quantity;
    }
}

void OrderBook::reduce_level(char side, std::uint32_t price, std::uint64_t quantity) {
    if (side == 'B') {
        reduce(bids_, price, quantity);
    } else {
        reduce(asks_, price, quantity);
    }
}

void OrderBook::publish() { publisher_.on_book(symbol_, best_bid(), best_ask()); }

}  // namespace tickforge
