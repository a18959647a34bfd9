import Glibc
import Testing

@testable import Desktop

/// The bytes in which the system tells of a directory (inotify(7)).
@Suite struct InotifyEventsTests {
    private func event(_ mask: Int32, _ name: String = "", watch: Int32 = 1) -> [UInt8] {
        // The name ends with a zero and is filled up with more.
        let name = name.isEmpty ? [] : Array(name.utf8) + [UInt8](repeating: 0, count: 16 - name.utf8.count % 16)
        var bytes: [UInt8] = []
        for number in [UInt32(bitPattern: watch), UInt32(bitPattern: mask), 0, UInt32(name.count)] {
            withUnsafeBytes(of: number) { bytes += Array($0) }
        }
        return bytes + name
    }

    private func read(_ bytes: [UInt8]) -> InotifyEvents {
        bytes.withUnsafeBytes { InotifyEvents($0) }
    }

    @Test("Several events in one read are read in order, with their names")
    func several() {
        let events = read(
            event(IN_CREATE, "a.png") + event(IN_MODIFY, "a.png") + event(IN_CLOSE_WRITE, "a.png")
                + event(IN_MOVED_TO, "a name of more than sixteen bytes.png") + event(IN_DELETE, "é")
        )
        #expect(
            events.changes == [
                .created("a.png"), .written("a.png"), .closed("a.png"),
                .renamedIntoPlace("a name of more than sixteen bytes.png"), .gone("é"),
            ]
        )
        #expect(!events.hasOverflowed && !events.hasEnded)
    }

    @Test("What was lost and what has ended is noticed, and directories in the directory are not files")
    func marks() {
        #expect(read(event(IN_Q_OVERFLOW, watch: -1)).hasOverflowed)
        for mask in [IN_DELETE_SELF, IN_MOVE_SELF, IN_UNMOUNT, IN_IGNORED] { #expect(read(event(mask)).hasEnded) }
        #expect(read(event(IN_CREATE | 0x4000_0000, "folder")).changes == [])
    }

    @Test("Events that are cut off anywhere are left out")
    func truncated() {
        let bytes = event(IN_CLOSE_WRITE, "a.png") + event(IN_CLOSE_WRITE, "b.png")
        for count in 0..<bytes.count {
            #expect(read(Array(bytes[..<count])).changes.count == (count >= bytes.count / 2 ? 1 : 0), "\(count)")
        }
    }
}
