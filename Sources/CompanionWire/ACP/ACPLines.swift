import Glibc

/// Puts bytes together to lines, of bounded length.
package struct ACPLines: Sendable {
    private let limit: Int
    private var line: [UInt8] = []

    package init(limit: Int) {
        self.limit = limit
    }

    /// Takes bytes and hands on every line that is complete, without its end; empty lines are left out.
    ///
    /// - Returns: Whether all is well; false when a line is too long. Nothing more is to be taken then.
    package mutating func take(_ bytes: UnsafeRawBufferPointer, _ body: ([UInt8]) -> Bool) -> Bool {
        var rest = bytes
        while let start = rest.baseAddress, let found = memchr(start, Int32(UInt8(ascii: "\n")), rest.count) {
            let count = UnsafeRawPointer(found) - start
            guard line.count + count <= limit else { return false }
            line += UnsafeRawBufferPointer(rebasing: rest[..<count])
            rest = UnsafeRawBufferPointer(rebasing: rest[(count + 1)...])
            if line.last == UInt8(ascii: "\r") { line.removeLast() }
            let complete = line
            // Keeps no room of a line of megabytes.
            line = []
            guard complete.isEmpty || body(complete) else { return true }
        }
        guard line.count + rest.count <= limit else { return false }
        line += rest
        return true
    }
}
