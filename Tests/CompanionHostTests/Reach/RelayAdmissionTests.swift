import CompanionWire
import FoundationEssentials
import Testing

@testable import CompanionHost

/// Which calls over relays are taken.
@Suite struct RelayAdmissionTests {
    private func id(_ number: UInt8) throws -> RelayID {
        try #require(RelayID(bytes: [UInt8](repeating: number, count: 32)))
    }

    private let now = Date(timeIntervalSince1970: 1_800_000_000)

    @Test("The id of nobody is refused, and taken while somebody may pair")
    func unknown() throws {
        var admission = RelayAdmission()
        #expect(admission.admit(try id(1), isKnown: false, isPairing: false, now: now) == .unknown)
        #expect(admission.admit(try id(1), isKnown: false, isPairing: true, now: now) == nil)
    }

    @Test("A device has eight connections at a time, and another has its own")
    func open() throws {
        var admission = RelayAdmission()
        for _ in 0..<RelayAdmission.mostOpen {
            #expect(admission.admit(try id(1), isKnown: true, isPairing: false, now: now) == nil)
        }
        #expect(admission.admit(try id(1), isKnown: true, isPairing: false, now: now) == .tooMany)
        #expect(admission.admit(try id(2), isKnown: true, isPairing: false, now: now) == nil)
        admission.end(try id(1), wasKnown: true)
        #expect(admission.admit(try id(1), isKnown: true, isPairing: false, now: now) == nil)
    }

    @Test("A device gets so many connections in a minute")
    func often() throws {
        var admission = RelayAdmission()
        for _ in 0..<RelayAdmission.mostPerMinute {
            #expect(admission.admit(try id(1), isKnown: true, isPairing: false, now: now) == nil)
            admission.end(try id(1), wasKnown: true)
        }
        #expect(admission.admit(try id(1), isKnown: true, isPairing: false, now: now) == .tooOften)
        #expect(admission.admit(try id(1), isKnown: true, isPairing: false, now: now.addingTimeInterval(6)) == nil)
    }

    @Test("Strangers share one limit, however many ids they make, and leave devices theirs")
    func strangers() throws {
        var admission = RelayAdmission()
        for number in 0..<UInt8(RelayAdmission.mostUnknownOpen) {
            #expect(admission.admit(try id(number), isKnown: false, isPairing: true, now: now) == nil)
        }
        #expect(admission.admit(try id(99), isKnown: false, isPairing: true, now: now) == .tooMany)
        #expect(admission.admit(try id(98), isKnown: true, isPairing: true, now: now) == nil)
    }
}
