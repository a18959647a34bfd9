import CDBus

/// A value in a D-Bus message, of the types that services use here (D-Bus specification, Type System).
package enum DBusValue: Sendable, Hashable {
    case byte(UInt8)
    case bool(Bool)
    case int32(Int32)
    case uint32(UInt32)
    /// A text, an object's path or a signature; it is sent as a text, up to its first NUL character.
    case string(String)
    case strings([String])
    /// `a{sv}`.
    case dictionary([String: DBusValue])
    /// Something else, which is not read and cannot be sent.
    case other

    /// The text; nil for a value of another type. The accessors below work in the same way.
    package var string: String? { if case .string(let text) = self { text } else { nil } }
    /// The number; nil for values of other types.
    package var uint32: UInt32? { if case .uint32(let number) = self { number } else { nil } }
    /// The texts of an array of strings; nil for values of other types.
    package var strings: [String]? { if case .strings(let texts) = self { texts } else { nil } }
    /// The entries of a dictionary with texts as keys; nil for values of other types.
    package var dictionary: [String: DBusValue]? { if case .dictionary(let entries) = self { entries } else { nil } }
}

/// Reading. libdbus has checked a message that it hands over: its texts are UTF-8, and no value is nested deeper than
/// 64 levels.
extension DBusValue {
    static func values(of message: OpaquePointer) -> [DBusValue] {
        var iterator = DBusMessageIter()
        guard dbus_message_iter_init(message, &iterator) != 0 else { return [] }
        return rest(of: &iterator)
    }

    private static func rest(of iterator: inout DBusMessageIter) -> [DBusValue] {
        var values: [DBusValue] = []
        while dbus_message_iter_get_arg_type(&iterator) != 0 {
            values.append(value(at: &iterator))
            dbus_message_iter_next(&iterator)
        }
        return values
    }

    private static func value(at iterator: inout DBusMessageIter) -> DBusValue {
        switch type(dbus_message_iter_get_arg_type(&iterator)) {
        case "y": return .byte(basic(&iterator, empty: 0))
        case "b": return .bool(basic(&iterator, empty: dbus_bool_t(0)) != 0)
        case "i": return .int32(basic(&iterator, empty: 0))
        case "u": return .uint32(basic(&iterator, empty: 0))
        case "s", "o", "g":
            let text = basic(&iterator, empty: UnsafePointer<CChar>?.none)
            return .string(text.map { String(cString: $0) } ?? "")
        case "v": return contents(of: &iterator).first ?? .other
        case "a":
            switch type(dbus_message_iter_get_element_type(&iterator)) {
            case "s", "o": return .strings(contents(of: &iterator).compactMap(\.string))
            case "e": return dictionary(at: &iterator)
            default: return .other
            }
        default: return .other
        }
    }

    /// The values in a container.
    private static func contents(of iterator: inout DBusMessageIter) -> [DBusValue] {
        var inner = DBusMessageIter()
        dbus_message_iter_recurse(&iterator, &inner)
        return rest(of: &inner)
    }

    private static func dictionary(at iterator: inout DBusMessageIter) -> DBusValue {
        var entries: [String: DBusValue] = [:]
        var inner = DBusMessageIter()
        dbus_message_iter_recurse(&iterator, &inner)
        while dbus_message_iter_get_arg_type(&inner) != 0 {
            let entry = contents(of: &inner)
            guard let key = entry.first?.string, let value = entry.last else { return .other }
            entries[key] = value
            dbus_message_iter_next(&inner)
        }
        return .dictionary(entries)
    }

    private static func type(_ code: Int32) -> Unicode.Scalar {
        Unicode.Scalar(UInt8(truncatingIfNeeded: code))
    }

    private static func basic<Value: BitwiseCopyable>(_ iterator: inout DBusMessageIter, empty: Value) -> Value {
        var value = empty
        dbus_message_iter_get_basic(&iterator, &value)
        return value
    }
}

/// Writing.
extension DBusValue {
    /// - Throws: ``DBusError`` where libdbus has too little memory. The message is incomplete then, and not to be sent.
    static func append(_ values: [DBusValue], to message: OpaquePointer) throws {
        var iterator = DBusMessageIter()
        dbus_message_iter_init_append(message, &iterator)
        for value in values { try value.append(to: &iterator) }
    }

    private var signature: String? {
        switch self {
        case .byte: "y"
        case .bool: "b"
        case .int32: "i"
        case .uint32: "u"
        case .string: "s"
        case .strings: "as"
        case .dictionary: "a{sv}"
        case .other: nil
        }
    }

    private func append(to iterator: inout DBusMessageIter) throws {
        switch self {
        case .byte(let number): try Self.append(number, as: "y", to: &iterator)
        case .bool(let flag): try Self.append(dbus_bool_t(flag ? 1 : 0), as: "b", to: &iterator)
        case .int32(let number): try Self.append(number, as: "i", to: &iterator)
        case .uint32(let number): try Self.append(number, as: "u", to: &iterator)
        case .string(let text): try text.withCString { try Self.append($0, as: "s", to: &iterator) }
        case .strings(let texts):
            try Self.container("a", of: "s", in: &iterator) { array in
                for text in texts { try DBusValue.string(text).append(to: &array) }
            }
        case .dictionary(let entries):
            try Self.container("a", of: "{sv}", in: &iterator) { array in
                for (key, value) in entries {
                    guard let signature = value.signature else { continue }
                    try Self.container("e", of: nil, in: &array) { entry in
                        try DBusValue.string(key).append(to: &entry)
                        try Self.container("v", of: signature, in: &entry) { try value.append(to: &$0) }
                    }
                }
            }
        case .other: break
        }
    }

    private static func append<Value: BitwiseCopyable>(
        _ value: Value,
        as type: Unicode.Scalar,
        to iterator: inout DBusMessageIter
    ) throws {
        var value = value
        guard dbus_message_iter_append_basic(&iterator, Int32(type.value), &value) != 0 else {
            throw DBusError.noMemory
        }
    }

    private static func container(
        _ type: Unicode.Scalar,
        of signature: String?,
        in iterator: inout DBusMessageIter,
        _ body: (inout DBusMessageIter) throws -> Void
    ) throws {
        var inner = DBusMessageIter()
        guard dbus_message_iter_open_container(&iterator, Int32(type.value), signature, &inner) != 0 else {
            throw DBusError.noMemory
        }
        do {
            try body(&inner)
        } catch {
            dbus_message_iter_abandon_container(&iterator, &inner)
            throw error
        }
        guard dbus_message_iter_close_container(&iterator, &inner) != 0 else { throw DBusError.noMemory }
    }
}
