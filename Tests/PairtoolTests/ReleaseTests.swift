import Testing

@testable import pairtool

/// What `scripts/release` refuses before it begins.
@Suite struct ReleaseTests {
    private static let root = "/" + #filePath.split(separator: "/").dropLast(3).joined(separator: "/")

    @Test("A release is made of a clean tagged tree only, with a key from outside it; else it is refused at once")
    func refused() async throws {
        try await Sandbox.with { user in
            let result = try await user.shell(
                """
                git clone -q --depth 1 'file://\(Self.root)' clone && cd clone || exit
                echo key >../key && cp ../key inside
                release() { scripts/release "$@" 2>&1; echo "$?"; }
                release
                release 0.1 --key ../key
                release \(Version.text) --key ../none
                release \(Version.text) --key inside
                release \(Version.text) --key ../key
                rm inside
                release \(Version.text) --key ../key
                git tag v\(Version.text) && git tag v9.9.9
                release 9.9.9 --key ../key
                sed -i 's/^## \(Version.text), .*/## \(Version.text), not released yet/' CHANGELOG.md
                git -c user.name=A -c user.email=a@b commit -q --allow-empty -am later && git tag -f v\(Version.text) >/dev/null
                release \(Version.text) --key ../key
                """
            )
            #expect(
                result.out == """
                    scripts/release VERSION --key FILE [--output DIR]     FILE: an SSH key, from outside the clone; DIR: by default .build/release-VERSION
                    2
                    release: 0.1 is no version: it has to be like 0.1.0
                    1
                    release: there is no key ../none
                    1
                    release: the key is inside the clone: keep it elsewhere
                    1
                    release: the tree is not clean: commit or remove what git status lists
                    1
                    release: the commit has no tag v\(Version.text)
                    1
                    release: Version.swift has another version
                    1
                    release: CHANGELOG.md says that \(Version.text) is not released yet
                    1

                    """,
                "\(result)"
            )
        }
    }
}
