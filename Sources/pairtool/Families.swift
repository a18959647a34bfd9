import CompanionWire

extension HostFamily {
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
