import QRCodec

/// Whether pictures are decoded in a sandbox with fewer rights than the rest of the program.
package struct PictureCheck: DoctorCheck {
    package let name = CheckName.pictures

    package init() {}

    package func findings() throws -> [Finding] {
        [Self.finding(try DecodingSandbox.enforcement())]
    }

    static func finding(_ enforcement: DecodingSandbox.Enforcement) -> Finding {
        guard !enforcement.isEmpty else {
            return .note(
                .pictures,
                evidence:
                    "this kernel has neither Landlock nor seccomp: picture decoders run with all the rights of this program",
                advice: .trustPictures
            )
        }
        let means = [(DecodingSandbox.Enforcement.landlock, "Landlock"), (.systemCallFilter, "seccomp")]
        let names = means.filter { enforcement.contains($0.0) }.map(\.1).joined(separator: ", ")
        return .ok(.pictures, evidence: "decoders may not open files or sockets (\(names))")
    }
}
