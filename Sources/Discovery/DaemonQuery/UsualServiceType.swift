/// The names of the service types that pairtool looks for by itself.
enum UsualServiceType {
    static var companion: String { "_copilotforge-companion._tcp" }
    static var companionShort: String { "_cf-companion._tcp" }
    static var lumi: String { "_lumiagent._tcp" }
    static var aicli: String { "_aiclicode._tcp" }

    static var all: [String] { [companion, companionShort, lumi, aicli] }
}
