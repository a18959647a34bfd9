import CompanionWire

extension HostFamily {
    /// The family that is meant where none is named.
    static var usual: HostFamily { allCases.first { $0.ways.goesFirst } ?? .copilotforge }

    /// The one place where families are told apart.
    var ways: any Family {
        switch self {
        case .copilotforge: CopilotForgeFamily()
        case .lumi: LumiFamily()
        case .aicli: AICLIFamily()
        case .jarvis: JarvisFamily()
        }
    }
}

extension PairingSymbol {
    /// The family of the host that it is for.
    var family: HostFamily {
        switch self {
        case .companion: .copilotforge
        case .aicli: .aicli
        }
    }
}
