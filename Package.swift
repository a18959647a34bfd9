// swift-tools-version:6.2
import PackageDescription

/// Whether `scripts/fuzz` builds this: our code is optimised then, and tells libFuzzer which way an input takes through it.
let isFuzzed = Context.environment["PAIRTOOL_FUZZ"] != nil

/// Upcoming features that every target of ours opts into.
let strict: [SwiftSetting] =
    [
        .enableUpcomingFeature("InternalImportsByDefault"),
        .enableUpcomingFeature("ExistentialAny"),
        .enableUpcomingFeature("MemberImportVisibility"),
    ] + (isFuzzed ? [.unsafeFlags(["-O", "-enable-testing", "-sanitize=fuzzer"])] : [])

/// Libraries of the system. `scripts/setup` installs their Debian packages.
let systemLibraries: [Target] =
    [
        "CAvahi", "CAvahiCore", "CCMarkGFM", "CLinux", "CZBar", "CQREncode", "CSpng", "CTurboJPEG", "CWebP", "CHEIF",
        "CSodium", "CPCRE2", "CXCB",
    ].map { .systemLibrary(name: $0, path: "Sources/SystemLibraries/\($0)") } + [
        // Its headers are where only pkg-config knows.
        .systemLibrary(name: "CDBus", path: "Sources/SystemLibraries/CDBus", pkgConfig: "dbus-1")
    ]

/// How programs are linked, where the package manager has no setting for it. The tables by which a program reaches
/// functions of libraries are filled at the start and read-only from then on (full RELRO). It offers no symbols to
/// others: Swift's static library has it offer all of them otherwise, which makes it larger and slower to start.
let program: [LinkerSetting] = [
    .unsafeFlags(["-Xlinker", "-z", "-Xlinker", "relro", "-Xlinker", "-z", "-Xlinker", "now"]),
    .unsafeFlags(["-Xlinker", "--no-export-dynamic"]),
]

/// Our modules: each depends only on those above it.
let modules: [Target] = [
    .target(name: "CConfinement"),
    .target(name: "CICUData"),
    .target(name: "CompanionWire", dependencies: ["CPCRE2"], swiftSettings: strict),
    .target(name: "LocalState", dependencies: ["CConfinement"], swiftSettings: strict),
    .target(
        name: "Identity",
        dependencies: [
            "CSodium", "CompanionWire", "LocalState",
            .product(name: "Crypto", package: "swift-crypto"),
            .product(name: "SwiftASN1", package: "swift-asn1"),
            .product(name: "X509", package: "swift-certificates"),
        ],
        swiftSettings: strict
    ),
    .target(
        name: "Markdown",
        dependencies: ["CCMarkGFM", "CompanionWire"],
        // It goes over every character of long answers.
        swiftSettings: strict + [.unsafeFlags(["-O"], .when(configuration: .debug))]
    ),
    .target(name: "DBus", dependencies: ["CDBus", "CompanionWire", "LocalState"], swiftSettings: strict),
    .target(
        name: "Discovery",
        dependencies: [
            "CAvahi", "CAvahiCore", "CompanionWire", "DBus", "LocalState",
            .product(name: "DequeModule", package: "swift-collections"),
            .product(name: "Logging", package: "swift-log"),
            .product(name: "NIOConcurrencyHelpers", package: "swift-nio"),
        ],
        swiftSettings: strict
    ),
    .target(
        name: "QRCodec",
        dependencies: [
            "CConfinement", "CHEIF", "CQREncode", "CSpng", "CTurboJPEG", "CWebP", "CZBar",
        ],
        // It goes over every pixel of pictures: unoptimised, a photograph takes it minutes.
        swiftSettings: strict + [.unsafeFlags(["-O"], .when(configuration: .debug))]
    ),
    .target(
        name: "Desktop",
        dependencies: [
            "CXCB", "CompanionWire", "DBus", "LocalState", "QRCodec",
            .product(name: "Subprocess", package: "swift-subprocess"),
        ],
        swiftSettings: strict
    ),
    .target(
        name: "History",
        dependencies: [
            "CompanionWire", "LocalState",
            .product(name: "GRDB", package: "GRDB.swift"),
        ],
        swiftSettings: strict
    ),
    .target(
        name: "Providers",
        dependencies: [
            "CompanionWire", "LocalState",
            .product(name: "AsyncHTTPClient", package: "async-http-client"),
            .product(name: "Logging", package: "swift-log"),
            .product(name: "NIOCore", package: "swift-nio"),
            .product(name: "NIOFoundationCompat", package: "swift-nio"),
            .product(name: "NIOHTTP1", package: "swift-nio"),
            .product(name: "NIOPosix", package: "swift-nio"),
            .product(name: "NIOSSL", package: "swift-nio-ssl"),
        ],
        swiftSettings: strict
    ),
    .target(
        name: "Relay",
        dependencies: [
            "CompanionWire", "Identity", "LocalState",
            .product(name: "Logging", package: "swift-log"),
            .product(name: "NIOConcurrencyHelpers", package: "swift-nio"),
            .product(name: "NIOCore", package: "swift-nio"),
            .product(name: "NIOPosix", package: "swift-nio"),
            .product(name: "NIOSSL", package: "swift-nio-ssl"),
            .product(name: "NIOTLS", package: "swift-nio"),
        ],
        swiftSettings: strict
    ),
    .target(
        name: "CompanionClient",
        dependencies: [
            "CLinux", "CompanionWire", "History", "Identity", "LocalState", "Providers", "Relay",
            .product(name: "AsyncHTTPClient", package: "async-http-client"),
            .product(name: "Crypto", package: "swift-crypto"),
            .product(name: "Logging", package: "swift-log"),
            .product(name: "NIOConcurrencyHelpers", package: "swift-nio"),
            .product(name: "NIOCore", package: "swift-nio"),
            .product(name: "NIOFoundationCompat", package: "swift-nio"),
            .product(name: "NIOHTTP1", package: "swift-nio"),
            .product(name: "NIOPosix", package: "swift-nio"),
            .product(name: "NIOSSL", package: "swift-nio-ssl"),
            .product(name: "NIOTLS", package: "swift-nio"),
            .product(name: "NIOWebSocket", package: "swift-nio"),
            .product(name: "Subprocess", package: "swift-subprocess"),
            .product(name: "SystemPackage", package: "swift-system"),
        ],
        swiftSettings: strict
    ),
    .target(
        name: "PairingAgent",
        dependencies: [
            "CompanionClient", "CompanionWire", "Identity", .product(name: "Logging", package: "swift-log"),
        ],
        swiftSettings: strict
    ),
    .target(
        name: "CompanionApp",
        dependencies: [
            "CompanionClient", "CompanionWire", "DBus", "Desktop", "Discovery", "History", "Identity", "LocalState",
            "PairingAgent", "Providers", "QRCodec", "Relay",
            .product(name: "Logging", package: "swift-log"),
            .product(name: "NIOConcurrencyHelpers", package: "swift-nio"),
            .product(name: "TOMLKit", package: "TOMLKit"),
        ],
        swiftSettings: strict
    ),
    .target(
        name: "CompanionHost",
        dependencies: [
            "CLinux", "CompanionWire", "Identity", "LocalState", "Providers", "Relay",
            .product(name: "Crypto", package: "swift-crypto"),
            .product(name: "GRDB", package: "GRDB.swift"),
            .product(name: "GRDBSQLite", package: "GRDB.swift"),
            .product(name: "HTTPTypes", package: "swift-http-types"),
            .product(name: "Hummingbird", package: "hummingbird"),
            .product(name: "HummingbirdCore", package: "hummingbird"),
            .product(name: "Logging", package: "swift-log"),
            .product(name: "NIOConcurrencyHelpers", package: "swift-nio"),
            .product(name: "NIOCore", package: "swift-nio"),
            .product(name: "NIOHTTP1", package: "swift-nio"),
            .product(name: "NIOHTTPTypesHTTP1", package: "swift-nio-extras"),
            .product(name: "NIOPosix", package: "swift-nio"),
            .product(name: "NIOSSL", package: "swift-nio-ssl"),
            .product(name: "NIOTLS", package: "swift-nio"),
            .product(name: "NIOWebSocket", package: "swift-nio"),
            .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
            .product(name: "Subprocess", package: "swift-subprocess"),
            .product(name: "SystemPackage", package: "swift-system"),
        ],
        swiftSettings: strict
    ),
    .target(
        name: "Doctor",
        dependencies: [
            "CompanionApp", "CompanionClient", "CompanionHost", "CompanionWire", "DBus", "Discovery", "History",
            "Identity",
            "LocalState", "PairingAgent", "Providers", "QRCodec",
            .product(name: "Subprocess", package: "swift-subprocess"),
            .product(name: "SystemPackage", package: "swift-system"),
        ],
        swiftSettings: strict
    ),
    .target(
        name: "HostOwner",
        dependencies: [
            "CompanionApp", "CompanionHost", "CompanionWire", "Desktop", "Discovery", "LocalState", "PairingAgent",
            "Providers",
        ],
        swiftSettings: strict
    ),
    .target(name: "LineEditor", swiftSettings: strict),
    .target(
        name: "Terminal",
        dependencies: [
            "CompanionWire", "LineEditor", "LocalState", "Markdown", "QRCodec",
            .product(name: "NIOConcurrencyHelpers", package: "swift-nio"),
            .product(name: "Subprocess", package: "swift-subprocess"),
            .product(name: "SystemPackage", package: "swift-system"),
        ],
        swiftSettings: strict
    ),
    .executableTarget(
        name: "pairtool",
        dependencies: [
            "CICUData", "CompanionApp", "CompanionClient", "CompanionHost", "CompanionWire", "DBus", "Desktop",
            "Discovery", "Doctor", "History", "HostOwner", "Identity", "LineEditor", "LocalState", "Markdown",
            "PairingAgent", "Providers", "QRCodec", "Relay", "Terminal",
            .product(name: "ArgumentParser", package: "swift-argument-parser"),
            .product(name: "Logging", package: "swift-log"),
            .product(name: "NIOConcurrencyHelpers", package: "swift-nio"),
            .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
        ],
        swiftSettings: strict,
        linkerSettings: program
    ),
]

let tests: [Target] = [
    .target(
        name: "CompanionTestSupport",
        dependencies: [
            "CompanionWire",
            .product(name: "Crypto", package: "swift-crypto"),
            .product(name: "NIOConcurrencyHelpers", package: "swift-nio"),
            .product(name: "NIOCore", package: "swift-nio"),
            .product(name: "NIOHTTP1", package: "swift-nio"),
            .product(name: "NIOPosix", package: "swift-nio"),
            .product(name: "NIOSSL", package: "swift-nio-ssl"),
            .product(name: "SwiftASN1", package: "swift-asn1"),
            .product(name: "X509", package: "swift-certificates"),
        ],
        path: "Tests/CompanionTestSupport",
        // Hundreds of tests speak to its hosts, some about a hundred thousand messages.
        swiftSettings: strict + [.unsafeFlags(["-O"], .when(configuration: .debug))]
    ),
    .target(
        name: "TerminalScreen",
        dependencies: ["CompanionWire"],
        path: "Tests/TerminalScreen",
        // It is shown what thousands of documents look like.
        swiftSettings: strict + [.unsafeFlags(["-O"], .when(configuration: .debug))]
    ),
    .target(name: "SeededNumbers", path: "Tests/SeededNumbers", swiftSettings: strict),
    .target(name: "PNGFiles", path: "Tests/PNGFiles", swiftSettings: strict),
    .executableTarget(
        name: "companion-fakes",
        dependencies: [
            "CompanionTestSupport", "CompanionWire", "Discovery",
            .product(name: "ArgumentParser", package: "swift-argument-parser"),
            .product(name: "Logging", package: "swift-log"),
        ],
        path: "Tests/CompanionFakes",
        swiftSettings: strict
    ),
    .testTarget(name: "CompanionWireTests", dependencies: ["CompanionWire"], swiftSettings: strict),
    .testTarget(
        name: "MarkdownTests",
        dependencies: ["CompanionWire", "Markdown", "SeededNumbers", "TerminalScreen"],
        exclude: ["Screens"],
        swiftSettings: strict
    ),
    .testTarget(
        name: "DiscoveryTests",
        dependencies: ["CompanionWire", "Discovery", .product(name: "Logging", package: "swift-log")],
        swiftSettings: strict
    ),
    .testTarget(
        name: "QRCodecTests",
        dependencies: ["CHEIF", "CTurboJPEG", "CWebP", "PNGFiles", "QRCodec", "SeededNumbers"],
        // They draw photographs, pixel by pixel: unoptimised, most of their time.
        swiftSettings: strict + [.unsafeFlags(["-O"], .when(configuration: .debug))],
        linkerSettings: [.linkedLibrary("heif")]
    ),
    .testTarget(
        name: "LineEditorTests",
        dependencies: ["CompanionWire", "LineEditor", "SeededNumbers", "TerminalScreen"],
        swiftSettings: strict
    ),
    .testTarget(name: "TerminalTests", dependencies: ["CompanionWire", "Terminal"], swiftSettings: strict),
    .testTarget(name: "DesktopTests", dependencies: ["Desktop", "QRCodec"], swiftSettings: strict),
    .testTarget(name: "LocalStateTests", dependencies: ["LocalState"], swiftSettings: strict),
    .testTarget(
        name: "IdentityTests",
        dependencies: [
            "CSodium", "CompanionWire", "Identity", "LocalState",
            .product(name: "Subprocess", package: "swift-subprocess"),
            .product(name: "SystemPackage", package: "swift-system"),
        ],
        swiftSettings: strict
    ),
    .executableTarget(
        name: "history-writer",
        dependencies: ["CompanionWire", "History"],
        path: "Tests/HistoryWriter",
        swiftSettings: strict
    ),
    .testTarget(
        name: "HistoryTests",
        dependencies: [
            "CompanionWire", "History", "history-writer", .product(name: "GRDB", package: "GRDB.swift"),
        ],
        swiftSettings: strict
    ),
    .testTarget(
        name: "PairingAgentTests",
        dependencies: [
            "CompanionClient", "CompanionTestSupport", "CompanionWire", "Identity", "PairingAgent",
            .product(name: "Logging", package: "swift-log"),
            .product(name: "NIOConcurrencyHelpers", package: "swift-nio"),
        ],
        swiftSettings: strict
    ),
    .testTarget(
        name: "RelayTests",
        dependencies: [
            "CompanionTestSupport", "CompanionWire", "Relay",
            .product(name: "Logging", package: "swift-log"),
            .product(name: "NIOConcurrencyHelpers", package: "swift-nio"),
            .product(name: "NIOCore", package: "swift-nio"),
            .product(name: "NIOEmbedded", package: "swift-nio"),
            .product(name: "NIOSSL", package: "swift-nio-ssl"),
            .product(name: "NIOTLS", package: "swift-nio"),
        ],
        swiftSettings: strict
    ),
    .testTarget(
        name: "CompanionClientTests",
        dependencies: [
            "CompanionClient", "CompanionTestSupport", "CompanionWire", "History", "Identity", "LocalState",
            "Providers", "Relay",
            .product(name: "Logging", package: "swift-log"),
            .product(name: "NIOConcurrencyHelpers", package: "swift-nio"),
            .product(name: "NIOCore", package: "swift-nio"),
            .product(name: "NIOPosix", package: "swift-nio"),
            .product(name: "NIOSSL", package: "swift-nio-ssl"),
        ],
        swiftSettings: strict
    ),
    .testTarget(
        name: "CompanionHostTests",
        dependencies: [
            "CompanionClient", "CompanionHost", "CompanionTestSupport", "CompanionWire", "Identity", "LocalState",
            "Providers",
            .product(name: "AsyncHTTPClient", package: "async-http-client"),
            .product(name: "GRDB", package: "GRDB.swift"),
            .product(name: "HTTPTypes", package: "swift-http-types"),
            .product(name: "Logging", package: "swift-log"),
            .product(name: "NIOConcurrencyHelpers", package: "swift-nio"),
            .product(name: "NIOCore", package: "swift-nio"),
            .product(name: "NIOHTTP1", package: "swift-nio"),
            .product(name: "NIOPosix", package: "swift-nio"),
            .product(name: "NIOSSL", package: "swift-nio-ssl"),
            .product(name: "NIOWebSocket", package: "swift-nio"),
            .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
            .product(name: "Subprocess", package: "swift-subprocess"),
        ],
        swiftSettings: strict
    ),
    .testTarget(
        name: "DoctorTests",
        dependencies: [
            "CompanionClient", "CompanionHost", "CompanionTestSupport", "CompanionWire", "Discovery", "Doctor",
            "Identity", "LocalState", "Providers",
        ],
        swiftSettings: strict
    ),
    .testTarget(
        name: "PairtoolTests",
        dependencies: [
            "pairtool", "CompanionApp", "CompanionClient", "CompanionHost", "CompanionTestSupport", "CompanionWire",
            "DBus", "Discovery", "Doctor", "History", "HostOwner", "Identity", "LocalState", "Markdown", "PairingAgent",
            "Providers", "PNGFiles", "QRCodec", "Relay", "Terminal", "TerminalScreen",
            .product(name: "ArgumentParser", package: "swift-argument-parser"),
            .product(name: "Crypto", package: "swift-crypto"),
            .product(name: "Logging", package: "swift-log"),
            .product(name: "NIOConcurrencyHelpers", package: "swift-nio"),
            .product(name: "Subprocess", package: "swift-subprocess"),
            .product(name: "SystemPackage", package: "swift-system"),
        ],
        swiftSettings: strict
    ),
]

let fuzzing: [Target] = [
    .target(name: "FuzzDriver", path: "Tests/FuzzDriver"),
    .executableTarget(
        name: "ParserFuzz",
        dependencies: [
            "CDBus", "CompanionClient", "CompanionHost", "CompanionWire", "DBus", "Discovery", "FuzzDriver",
            "LineEditor", "Markdown", "Providers", "Relay",
            .product(name: "Logging", package: "swift-log"),
            .product(name: "NIOCore", package: "swift-nio"),
            .product(name: "NIOEmbedded", package: "swift-nio"),
            .product(name: "NIOWebSocket", package: "swift-nio"),
        ],
        path: "Tests/ParserFuzz",
        exclude: ["Seeds", "words.dict"],
        swiftSettings: strict,
        linkerSettings: [.unsafeFlags(["-sanitize=fuzzer", "-use-ld=lld"])]
    ),
]

let package = Package(
    name: "pairtool",
    products: [
        .executable(name: "pairtool", targets: ["pairtool"])
    ],
    dependencies: [
        .package(url: "https://github.com/LebJe/TOMLKit", exact: "0.6.0"),
        .package(url: "https://github.com/apple/swift-argument-parser", exact: "1.8.2"),
        .package(url: "https://github.com/apple/swift-asn1", exact: "1.7.4"),
        .package(url: "https://github.com/apple/swift-certificates", exact: "1.21.1"),
        .package(url: "https://github.com/apple/swift-collections", exact: "1.6.0"),
        .package(url: "https://github.com/apple/swift-crypto", exact: "4.5.2"),
        .package(url: "https://github.com/apple/swift-http-types", exact: "1.8.0", traits: []),
        .package(url: "https://github.com/apple/swift-log", exact: "1.16.2"),
        .package(url: "https://github.com/apple/swift-nio", exact: "2.101.2"),
        .package(url: "https://github.com/apple/swift-nio-extras", exact: "1.35.2"),
        .package(url: "https://github.com/apple/swift-nio-ssl", exact: "2.37.6"),
        .package(url: "https://github.com/apple/swift-system", exact: "1.8.1"),
        .package(url: "https://github.com/groue/GRDB.swift", exact: "7.10.0"),
        .package(url: "https://github.com/hummingbird-project/hummingbird", exact: "2.28.1"),
        .package(url: "https://github.com/swift-server/async-http-client", exact: "1.37.0"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", exact: "2.13.0"),
        .package(url: "https://github.com/swiftlang/swift-subprocess", exact: "1.0.2", traits: []),
    ],
    targets: systemLibraries + modules + tests + (isFuzzed ? fuzzing : []),
    swiftLanguageModes: [.v6]
)
