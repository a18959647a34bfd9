import CompanionTestSupport
import Testing

@testable import Relay

@Suite("Identities for a relay")
struct RelayIdentityTests {
    @Test("An identity is read back from its file, and no two are the same")
    func file() throws {
        let identity = try RelayIdentity.make()
        #expect(try RelayIdentity(pem: identity.pem).id == identity.id)
        #expect(try RelayIdentity(pem: identity.pem).pem == identity.pem)
        #expect(try RelayIdentity.make().id != identity.id)
    }

    @Test("A damaged file, and one whose key is another one's, is refused")
    func damaged() throws {
        let (one, two) = (try RelayIdentity.make().pem, try RelayIdentity.make().pem)
        let end = "-----END PRIVATE KEY-----\n"
        let oneKey = try #require(one.components(atEndOf: end)).before
        let twoCertificate = try #require(two.components(atEndOf: end)).after
        for text in ["", "nothing", oneKey, twoCertificate, oneKey + twoCertificate, one + two] {
            let error = #expect(throws: RelayError.self) { try RelayIdentity(pem: text) }
            #expect(error?.code == .badIdentity)
        }
    }
}

private struct TwoParts {
    var before: String
    var after: String
}

extension String {
    fileprivate func components(atEndOf mark: String) -> TwoParts? {
        guard let range = ranges(of: mark).first else { return nil }
        return TwoParts(before: String(self[..<range.upperBound]), after: String(self[range.upperBound...]))
    }
}
