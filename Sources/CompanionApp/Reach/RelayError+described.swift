package import PairingAgent
import Relay

extension RelayError: DescribedError {
    package var described: AppError {
        let (kind, next): (AppError.Kind, String?) =
            switch code {
            case .unreachable: (.unreachable, "check that it runs there, and that the firewall lets its port in")
            case .timedOut: (.timedOut, "try again, or check the relay")
            case .wrongID: (.failed, "compare the id with what the relay prints when it starts")
            case .full: (.failed, "try again later, or use another relay")
            default: (.failed, nil)
            }
        return AppError(kind, "relay.\(code)", message, next: next)
    }
}
