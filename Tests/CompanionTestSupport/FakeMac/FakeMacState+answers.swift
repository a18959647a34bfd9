import CompanionWire
import FoundationEssentials
import NIOHTTP1

extension FakeMacState.Contents {
    /// An answer with a body, in Node's way.
    func reply(_ status: Int, _ type: String, _ body: [UInt8], extra: String = "", length: Int? = nil) -> FakeMacAction
    {
        let head =
            "HTTP/1.1 \(status) \(HTTPResponseStatus(statusCode: status).reasonPhrase)\r\nX-Powered-By: Express\r\n\(extra)Content-Type: \(type)\r\n"
            + "Content-Length: \(length ?? body.count)\r\nDate: \(HTTPDateText.string(from: now))\r\n"
            + "Connection: keep-alive\r\nKeep-Alive: timeout=5\r\n\r\n"
        return .send(Array(head.utf8) + body)
    }

    func json(_ status: Int, _ text: String) -> FakeMacAction {
        reply(status, "application/json; charset=utf-8", Array(text.utf8))
    }

    func json(_ value: some Encodable) -> [FakeMacAction] {
        // The models of the protocol always encode.
        let body = (try? CompanionJSON.encoder().encode(value)).map { String(decoding: $0, as: UTF8.self) } ?? ""
        return [json(200, JSONText.escapingMarks(in: body))]
    }

    func failure(_ status: Int, _ text: String) -> [FakeMacAction] {
        [json(status, #"{"ok":false,"error":\#(JSONText.quoted(text))}"#)]
    }

    /// Express's page for what it cannot do.
    func page(_ status: Int, _ text: String) -> [FakeMacAction] {
        let html = """
            <!DOCTYPE html>
            <html lang="en">
            <head>
            <meta charset="utf-8">
            <title>Error</title>
            </head>
            <body>
            <pre>\(text)</pre>
            </body>
            </html>

            """
        return [reply(status, "text/html; charset=utf-8", Array(html.utf8))]
    }
}

/// Writes `Date` headers (RFC 9110, section 5.6.7).
enum HTTPDateText {
    static func string(from date: Date) -> String {
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = .gmt
        let parts = calendar.dateComponents([.year, .month, .day, .hour, .minute, .second, .weekday], from: date)
        let days = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
        let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
        func two(_ value: Int?) -> String { (value ?? 0) < 10 ? "0\(value ?? 0)" : "\(value ?? 0)" }
        return "\(days[(parts.weekday ?? 1) - 1]), \(two(parts.day)) \(months[(parts.month ?? 1) - 1]) "
            + "\(parts.year ?? 1970) \(two(parts.hour)):\(two(parts.minute)):\(two(parts.second)) GMT"
    }
}
