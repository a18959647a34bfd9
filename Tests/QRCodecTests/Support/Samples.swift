import QRCodec

/// The files of the repository's `samples` folder.
enum Samples {
    static let good =
        #"{"protocol":"copilotforge-pair-v1","code":"482913","token":"c2FtcGxlLXRva2VuLW5vdC1hLXNlY3JldA","#
        + #""expiresAt":"2099-12-31T23:59:59.000Z"}"#
    static let expired =
        #"{"protocol":"copilotforge-pair-v1","code":"482913","token":"c2FtcGxlLXRva2VuLW5vdC1hLXNlY3JldA","#
        + #""expiresAt":"2024-01-01T00:05:00.000Z"}"#

    /// Where a sample lies.
    static func path(_ name: String) -> String {
        "/" + #filePath.split(separator: "/").dropLast(4).joined(separator: "/") + "/samples/" + name
    }

    static func bytes(_ name: String) throws -> [UInt8] {
        try ImageFile.bytes(ofFile: path(name))
    }
}
