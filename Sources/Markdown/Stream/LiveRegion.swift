import CompanionWire

/// The rows at the end of a terminal's output that may still change.
///
/// Rows above it belong to the terminal. The region goes up only as many rows as it has drawn, and these fit the
/// window, so that nothing that has scrolled out of it is touched.
package struct LiveRegion: Sendable {
    /// The rows that are drawn. The cursor is at the end of the last one or, if there are none, at the beginning of an
    /// empty row.
    private var drawn: [[UInt8]] = []
    private var columns = 0
    /// Whether the terminal breaks rows that are too wide for a window that was made narrower. xterm cuts them.
    private let breaksRows: Bool

    /// - Parameter breaksRows: Whether the terminal breaks rows that are too wide for a window that was made narrower.
    ///   Default: true.
    package init(breaksRows: Bool = true) {
        self.breaksRows = breaksRows
    }

    /// Whether the cursor is at the beginning of an empty row.
    package var isEmpty: Bool { drawn.isEmpty }

    /// Returns the bytes to write so that the terminal shows other rows.
    ///
    /// - Parameters:
    ///   - finished: Rows that become the terminal's, each with a line feed.
    ///   - open: The rows of the region below them, each no wider than the window. Those at the top are left out if they
    ///     are too many.
    ///   - columns: The width of the window.
    ///   - most: The most rows of the region: at most the height of the window.
    package mutating func show(finished: [UInt8] = [], open: [[UInt8]], columns: Int, most: Int) -> [UInt8] {
        let feed = UInt8(ascii: "\n")
        let open = Array(open.suffix(most))
        let isNarrower = self.columns > columns && breaksRows
        self.columns = columns
        defer { drawn = open }
        // Rows that stay as they are are not written again. In a narrower window, the terminal has broken them.
        var (same, begin, kept) = (0, 0, 0)
        while same < drawn.count, begin < finished.count, let end = finished[begin...].firstIndex(of: feed),
            finished[begin..<end].elementsEqual(drawn[same])
        {
            (same, begin) = (same + 1, end + 1)
        }
        while begin == finished.count, same < drawn.count, kept < open.count, open[kept] == drawn[same] {
            (same, kept) = (same + 1, kept + 1)
        }
        var out: [UInt8] = []
        if !drawn.isEmpty, same == drawn.count {
            if begin < finished.count || kept < open.count || open.isEmpty { out.append(feed) }
        } else if !drawn.isEmpty {
            // The cursor has to end up behind the last row, which is written again for that.
            if kept == open.count, kept > 0 { (same, kept) = (same - 1, kept - 1) }
            let broken = isNarrower ? Self.brokenRows(drawn[same...], columns) : 0
            let up = min(drawn.count - 1 - same + broken, most)
            if up > 0 { out += "\u{1B}[\(up)A".utf8 }
            out += Self.erasure
        }
        out += finished[begin...]
        out += open[kept...].joined(separator: [feed])
        return out
    }

    /// Erases all rows from the cursor's on, from its second column: at the first one of a window, tmux would take that
    /// for a clear screen, and keep a copy of it above.
    private static let erasure = Array("\r\u{1B}[K\u{1B}[C\u{1B}[J\r".utf8)

    /// How many more rows the drawn ones take in a narrower window.
    private static func brokenRows(_ drawn: ArraySlice<[UInt8]>, _ columns: Int) -> Int {
        drawn.reduce(0) { sum, row in
            sum + DisplayWidth.rows(of: String(decoding: text(of: row), as: UTF8.self), columns: columns) - 1
        }
    }

    /// A row without its escape sequences, all of which end with `m` or ST.
    private static func text(of row: [UInt8]) -> [UInt8] {
        var (result, place) = ([UInt8](), 0)
        while place < row.count {
            guard row[place] == 0x1B else {
                result.append(row[place])
                place += 1
                continue
            }
            let isLink = place + 1 < row.count && row[place + 1] == UInt8(ascii: "]")
            place += 1
            while place < row.count, row[place] != UInt8(ascii: isLink ? "\\" : "m") { place += 1 }
            place += 1
        }
        return result
    }
}
