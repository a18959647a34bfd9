import CompanionWire
import FoundationEssentials
import Glibc
import Identity
import Testing

@Suite struct SigningTests {
    /// The tests of RFC 8032, section 7.1: seed, public key, message, signature.
    private static let vectors: [[String]] = [
        [
            "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60",
            "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a", "",
            "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b",
        ],
        [
            "4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb",
            "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c", "72",
            "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00",
        ],
        [
            "c5aa8df43f9f837bedb7442f31dcb7b166d38535076f094b85ce3a2e0b4458f7",
            "fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025", "af82",
            "6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac18ff9b538d16f290ae67f760984dc6594a7c15e9716ed28dc027beceea1ec40a",
        ],
    ]

    @Test("Signatures are those of RFC 8032", arguments: vectors)
    func signatures(vector: [String]) throws {
        let parts = vector.map(hexBytes)
        try withTemporaryDirectory { directory in
            let store = SecureKeyStore(directory: directory, name: "other.key")
            let file = Data(Array("PTKEY01\n".utf8) + parts[0] + parts[1])
            try file.write(to: URL(filePath: store.path))
            chmod(store.path, 0o600)
            #expect(try store.identity().publicKey == parts[1])
            #expect(try store.sign(parts[2]) == parts[3])
        }
        #expect(Ed25519.verify(signature: parts[3], message: parts[2], publicKey: parts[1]))
    }

    @Test("Any change to signature, message or key is noticed")
    func changes() {
        let parts = Self.vectors[1].map(hexBytes)
        let (key, message, signature) = (parts[1], parts[2], parts[3])
        for bit in 0..<512 {
            var changed = signature
            changed[bit / 8] ^= 1 << (bit % 8)
            #expect(!Ed25519.verify(signature: changed, message: message, publicKey: key))
        }
        for bit in 0..<256 {
            var changed = key
            changed[bit / 8] ^= 1 << (bit % 8)
            #expect(!Ed25519.verify(signature: signature, message: message, publicKey: changed))
        }
        #expect(!Ed25519.verify(signature: signature, message: message + [0], publicKey: key))
        #expect(!Ed25519.verify(signature: Array(signature.dropLast()), message: message, publicKey: key))
        #expect(!Ed25519.verify(signature: signature + [0], message: message, publicKey: key))
        #expect(!Ed25519.verify(signature: signature, message: message, publicKey: Array(key.dropLast())))
        #expect(!Ed25519.verify(signature: [], message: [], publicKey: []))
    }

    @Test("A signature has one form: S beyond the order of the group is refused")
    func malleability() {
        let order = Array(hexBytes("1000000000000000000000000000000014def9dea2f79cd65812631a5cf5d3ed").reversed())
        let parts = Self.vectors[1].map(hexBytes)
        var signature = parts[3]
        var carry = 0
        for index in 0..<32 {
            let sum = Int(signature[32 + index]) + Int(order[index]) + carry
            signature[32 + index] = UInt8(sum & 0xFF)
            carry = sum >> 8
        }
        #expect(carry == 0)
        #expect(!Ed25519.verify(signature: signature, message: parts[2], publicKey: parts[1]))
    }

    @Test("Keys of small order, which fit every message, are refused", arguments: [0, 1])
    func smallOrder(first: UInt8) {
        let point = [first] + [UInt8](repeating: 0, count: 31)
        let signature = [1] + [UInt8](repeating: 0, count: 63)
        for message in [[], [1], [2, 3]] as [[UInt8]] {
            #expect(!Ed25519.verify(signature: signature, message: message, publicKey: point))
        }
    }

    @Test("Nothing is signed without a key, and no key is made for it")
    func missingKey() throws {
        try withTemporaryDirectory { directory in
            let store = SecureKeyStore(directory: directory)
            let error = #expect(throws: KeyStoreError.self) { try store.sign([1]) }
            #expect(error?.code == .missing)
            #expect(error?.remedy != nil)
            let identity = try store.load()
            #expect(identity == nil)
        }
    }

    @Test("Nothing is signed with a key that others can read")
    func unsafeKey() throws {
        try withTemporaryDirectory { directory in
            let store = SecureKeyStore(directory: directory)
            _ = try store.identity()
            chmod(store.path, 0o644)
            let error = #expect(throws: KeyStoreError.self) { try store.sign([1]) }
            #expect(error?.code == .permissions)
        }
    }

    @Test("An identity is read from its text, and from nothing else")
    func identityText() throws {
        let key = hexBytes(Self.vectors[0][1])
        let text = Base64.encode(key)
        #expect(DeviceIdentity(publicKeyText: text)?.publicKey == key)
        #expect(DeviceIdentity(publicKeyText: text)?.deviceID == DeviceIdentity.deviceID(publicKeyText: text))
        for wrong in [
            "", " " + text, text + "\n", String(text.dropLast()), Base64.encode(key + [0]), Base64URL.encode(key),
        ] {
            #expect(DeviceIdentity(publicKeyText: wrong) == nil)
        }
    }
}
