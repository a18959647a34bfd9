import FoundationEssentials
import Glibc
import Identity
import Testing

@Suite struct SecureKeyStoreTests {
    @Test("A key is made at first use, private to its owner, and stays the same")
    func firstUse() throws {
        try withTemporaryDirectory { directory in
            let store = SecureKeyStore(directory: directory + "/new/data")
            #expect(try store.load() == nil)
            let identity = try store.identity()
            #expect(identity.publicKey.count == 32)
            #expect(try SecureKeyStore(directory: directory + "/new/data").identity() == identity)
            #expect(try mode(store.path) == 0o600)
            #expect(try mode(directory + "/new/data") == 0o700)
            #expect(try FileManager.default.contentsOfDirectory(atPath: directory + "/new/data") == ["identity.key"])
        }
    }

    @Test("Two stores have two keys")
    func keysDiffer() throws {
        try withTemporaryDirectory { directory in
            let one = try SecureKeyStore(directory: directory + "/1").identity()
            #expect(try SecureKeyStore(directory: directory + "/2").identity() != one)
        }
    }

    @Test("A key that others may read or write is refused, and left as it is", arguments: [0o640, 0o604, 0o620, 0o666])
    func permissions(bits: Int) throws {
        try withTemporaryDirectory { directory in
            let store = SecureKeyStore(directory: directory)
            _ = try store.identity()
            chmod(store.path, mode_t(bits))
            let error = #expect(throws: KeyStoreError.self) { try store.identity() }
            #expect(error?.code == .permissions)
            #expect(error?.remedy?.contains("chmod 600") == true)
            chmod(store.path, 0o600)
            _ = try store.identity()
        }
    }

    @Test("A damaged key is refused, and left as it is", arguments: [0, 1, 8, 39, 40, 71])
    func damage(offset: Int) throws {
        try withTemporaryDirectory { directory in
            let store = SecureKeyStore(directory: directory)
            _ = try store.identity()
            var content = try Data(contentsOf: URL(filePath: store.path))
            content[offset] ^= 0x10
            try content.write(to: URL(filePath: store.path))
            let error = #expect(throws: KeyStoreError.self) { try store.identity() }
            #expect(error?.code == .damaged)
            #expect(try Data(contentsOf: URL(filePath: store.path)) == content)
        }
    }

    @Test("A key file that is cut, empty, too long, a directory or a link is refused")
    func wrongShape() throws {
        try withTemporaryDirectory { directory in
            let store = SecureKeyStore(directory: directory + "/a")
            _ = try store.identity()
            let content = try Data(contentsOf: URL(filePath: store.path))
            for wrong in [Data(), content.prefix(71), content + [0]] {
                try wrong.write(to: URL(filePath: store.path))
                #expect(throws: KeyStoreError.self) { try store.identity() }
            }
            try FileManager.default.createDirectory(
                atPath: directory + "/b/identity.key",
                withIntermediateDirectories: true
            )
            #expect(throws: KeyStoreError.self) { try SecureKeyStore(directory: directory + "/b").identity() }
            try FileManager.default.createDirectory(atPath: directory + "/c", withIntermediateDirectories: true)
            symlink(store.path, directory + "/c/identity.key")
            #expect(throws: KeyStoreError.self) { try SecureKeyStore(directory: directory + "/c").identity() }
        }
    }

    @Test("The device's id is what hosts compute from the trimmed text of its key")
    func deviceID() {
        // printf %s AAAA | sha256sum
        #expect(DeviceIdentity.deviceID(publicKeyText: "AAAA") == "63c1dd951ffedf6f")
        #expect(DeviceIdentity.deviceID(publicKeyText: " \tAAAA\n") == "63c1dd951ffedf6f")
    }
}
