import CompanionWire

extension HostFamily {
    /// The family to use if the user names none.
    static let usual = HostFamily.copilotforge
    var isUsual: Bool { self == .usual }

    /// The only place that distinguishes the families.
    var behavior: any Family {
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
