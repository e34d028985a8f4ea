// The TF1 wire format: datagram header, message bodies, and the decoder for both.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tickforge::wire {

constexpr std::uint16_t kMagic = 0x5446;
constexpr std::size_t kHeaderSize = 12;  // magic u16, message count u16, first sequence number u64
constexpr std::size_t kPrefixSize = 3;   // length u16, type u8
constexpr std::size_t kSymbolSize = 8;
constexpr std::uint32_t kPriceScale = 10000;

enum class MessageType : char {
    Add = 'A',
    Execute = 'E',
    Cancel = 'X',
    Delete = 'D',
    Replace = 'U',
};

// One message of any type; fields that its type does not have stay at their defaults.
struct Message {
    MessageType type{};
    std::uint64_t order_id = 0;
    std::uint64_t new_order_id = 0;
    std::string symbol;
    char side = ' ';
    std::uint32_t quantity = 0;
    std::uint32_t price = 0;
};

struct Datagram {
    std::uint64_t first_sequence = 0;
    std::vector<Message> messages;

    std::uint64_t end_sequence() const { return first_sequence + messages.size(); }
};

// Reads `Width` bytes, most significant first.
template <typename Integer, std::size_t Width = sizeof(Integer)>
Integer read_be(const std::uint8_t* at) {
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < Width; ++i) value = (value << 8) | at[i];
    return static_cast<Integer>(value);
}

inline std::string read_symbol(const std::uint8_t* at) {
    std::string symbol(reinterpret_cast<const char*>(at), kSymbolSize);
    symbol.erase(symbol.find_last_not_of(' ') + 1);
    return symbol;
}

inline Message decode_body(MessageType type, const std::uint8_t* body) {
    Message message;
    message.type = type;
    message.order_id = read_be<std::uint64_t>(body);
    switch (type) {
        case MessageType::Add:
            message.symbol = read_symbol(body + 8);
            message.side = static_cast<char>(body[16]);
            message.quantity = read_be<std::uint32_t>(body + 17);
            message.price = read_be<std::uint32_t>(body + 21);
            break;
        case MessageType::Execute:
        case MessageType::Cancel:
            message.quantity = read_be<std::uint32_t>(body + 8);
            break;
        case MessageType::Delete:
            break;
        case MessageType::Replace:
            message.new_order_id = read_be<std::uint64_t>(body + 8);
            message.quantity = read_be<std::uint32_t>(body + 16);
            message.price = read_be<std::uint32_t>(body + 20);
            break;
    }
    return message;
}

// Decodes one datagram. Returns nothing when the header or a message prefix is not valid.
inline std::optional<Datagram> decode(const std::vector<std::uint8_t>& bytes) {
    if (bytes.size() < kHeaderSize || read_be<std::uint16_t>(bytes.data()) != kMagic) return std::nullopt;
    const auto count = read_be<std::uint16_t>(bytes.data() + 2);
    Datagram datagram;
    datagram.first_sequence = read_be<std::uint64_t>(bytes.data() + 4);
    datagram.messages.reserve(count);
    std::size_t offset = kHeaderSize;
    for (std::uint16_t i = 0; i < count; ++i) {
        if (offset + kPrefixSize > bytes.size()) return std::nullopt;
        const auto length = read_be<std::uint16_t>(bytes.data() + offset);
        const auto type = static_cast<MessageType>(bytes[offset + 2]);
        datagram.messages.push_back(decode_body(type, bytes.data() + offset + kPrefixSize));
        offset += length;
    }
    return datagram;
}

}  // namespace tickforge::wire
