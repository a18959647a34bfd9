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

    package var string: String? { if case .string(let text) = self { text } else { nil } }
    package var uint32: UInt32? { if case .uint32(let number) = self { number } else { nil } }
    package var strings: [String]? { if case .strings(let texts) = self { texts } else { nil } }
    package var dictionary: [String: DBusValue]? { if case .dictionary(let entries) = self { entries } else { nil } }
}
