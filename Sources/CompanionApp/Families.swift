package import CompanionWire

extension HostFamily {
    /// The only place that distinguishes the families.
    package var behavior: any Family {
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
    package var family: HostFamily {
        switch self {
        case .companion: .copilotforge
        case .aicli: .aicli
        }
    }
}
