import CompanionWire
import FoundationEssentials
import LocalState

/// Maps paths between the machine of an editor and that of a host, by whole components.
struct EditorPaths: Sendable, Hashable {
    /// The project's directory on the editor's machine, and at the host.
    var local: String
    var remote: String

    init(local: String, remote: String) {
        (self.local, self.remote) = (Self.normal(local), Self.normal(remote))
    }

    /// A path without repeated and closing slashes and without `.` and `..`.
    static func normal(_ path: String) -> String {
        var parts: [Substring] = []
        for part in path.parts("/") where !part.isEmpty && !part.isSame(as: ".") {
            if part.isSame(as: "..") { _ = parts.popLast() } else { parts.append(part) }
        }
        return "/" + parts.joined(separator: "/")
    }

    /// The same with symbolic links resolved, where it exists here.
    static func real(_ path: String) -> String { RealPath.of(path) ?? normal(path) }

    /// The rest of a path behind a directory that it is in: empty for the directory itself; nil outside.
    static func rest(of path: String, in directory: String) -> Substring? {
        if path.isSame(as: directory) { return "" }
        let start = directory.isSame(as: "/") ? directory : directory + "/"
        return path.dropping(prefix: start).map { "/" + $0 }.map { $0[...] }
    }

    /// - Returns: nil for a path outside of the project.
    func toHost(_ path: String) -> String? {
        Self.rest(of: Self.normal(path), in: local).map { Self.normal(remote + $0) }
    }

    /// - Parameter path: Absolute, or from the project's directory.
    /// - Returns: nil for a path outside of the project.
    func toEditor(_ path: String) -> String? {
        let whole = path.begins(with: "/") ? path : "\(remote)/\(path)"
        return Self.rest(of: Self.normal(whole), in: remote).map { Self.normal(local + $0) }
    }
}

extension EditorPaths {
    private static let fileScheme = "file://"

    /// A `file` URI with its path mapped; nil for other URIs and paths outside of the project.
    private func uri(_ uri: String, _ map: (String) -> String?) -> String? {
        guard let rest = uri.dropping(prefix: Self.fileScheme, ignoringCase: true) else { return nil }
        let end = rest.utf8.firstIndex { $0 == UInt8(ascii: "#") || $0 == UInt8(ascii: "?") } ?? rest.endIndex
        guard rest.begins(with: "/"), let bytes = percentDecoded(rest[..<end]),
            let path = String(validating: bytes, as: UTF8.self), let mapped = map(path)
        else { return nil }
        let encoded = mapped.parts("/", omittingEmpty: false).map { percentEncoded(String($0)) }.joined(separator: "/")
        return Self.fileScheme + encoded + rest[end...]
    }

    /// A block of a prompt as the host gets it.
    func blockForHost(_ block: JSONValue) -> JSONValue {
        var members = block.object ?? [:]
        if let old = members["uri"]?.string, let new = uri(old, toHost) { members["uri"] = .string(new) }
        if var resource = members["resource"]?.object, let old = resource["uri"]?.string, let new = uri(old, toHost) {
            resource["uri"] = .string(new)
            members["resource"] = .object(resource)
        }
        return .object(members)
    }

    /// An update, or the tool call of a request, as the editor gets it. Places outside of the project are left out, because
    /// editors open them; a difference keeps its path.
    func forEditor(_ value: JSONValue) -> JSONValue {
        guard var members = value.object else { return value }
        if let places = members["locations"]?.array {
            members["locations"] = .array(
                places.compactMap { place in
                    guard var place = place.object, let path = place["path"]?.string, let mapped = toEditor(path) else {
                        return nil
                    }
                    place["path"] = .string(mapped)
                    return .object(place)
                }
            )
        }
        if let content = members["content"] {
            members["content"] = content.array.map { .array($0.map(toolContent)) } ?? blockForEditor(content)
        }
        return .object(members)
    }

    private func toolContent(_ item: JSONValue) -> JSONValue {
        guard var members = item.object else { return item }
        switch members["type"]?.string {
        case "diff":
            if let path = members["path"]?.string, let mapped = toEditor(path) { members["path"] = .string(mapped) }
            // Some editors fail on it; for all others its absence says the same.
            if members["oldText"] == .null { members["oldText"] = nil }
        case "content":
            if let block = members["content"] { members["content"] = blockForEditor(block) }
        // The editor knows none of the agent's terminals.
        case "terminal":
            let id = members["terminalId"]?.string ?? ""
            let text = "(output in the agent's terminal \(id))"
            return ["type": "content", "content": ["type": "text", "text": .string(text)]]
        default: break
        }
        return .object(members)
    }

    private func blockForEditor(_ block: JSONValue) -> JSONValue {
        guard var members = block.object else { return block }
        if let old = members["uri"]?.string, let new = uri(old, toEditor) { members["uri"] = .string(new) }
        if var resource = members["resource"]?.object, let old = resource["uri"]?.string, let new = uri(old, toEditor) {
            resource["uri"] = .string(new)
            members["resource"] = .object(resource)
        }
        return .object(members)
    }
}
