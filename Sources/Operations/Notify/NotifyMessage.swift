package import Base
package import Manifest
import Show

/// A notice in the form that one kind of target takes.
package enum NotifyMessage: Sendable, Equatable {
    /// Input for `sendmail -t -i`.
    case mail(String)
    /// The path is added to the target's address.
    case web(path: String, headers: [Header], body: String)
    case program(input: String)

    package struct Header: Sendable, Equatable {
        let name: String
        let value: String

        init(_ name: String, _ value: String) {
            self.name = name
            self.value = value
        }
    }

    /// The secrets of a target, besides its address.
    package struct Secrets: Sendable {
        var key: Secret?
        var token: Secret?

        package init() {}
    }

    /// `id` is the same for every attempt, so that a target can recognise duplicates.
    package init(
        _ notice: NotifyNotice,
        to target: NotifyTarget,
        id: String,
        at now: WallTime,
        _ secrets: Secrets
    ) {
        var headers: [Header] = []
        if let token = secrets.token?.withBytes({ String(decoding: $0, as: UTF8.self) }) {
            headers.append(Header("Authorization", "Bearer \(token)"))
        }
        let plain = Header("Content-Type", "text/plain; charset=utf-8")
        let json = Header("Content-Type", "application/json")
        switch target.way {
        case .mail(let address):
            self = .mail(Self.mail(notice, to: address, id: id))
        case .webhook:
            let body = notice.json.text
            let seconds = String(now.milliseconds / 1_000)
            headers += [json, Header("webhook-id", id), Header("webhook-timestamp", seconds)]
            if let key = secrets.key {
                let signature = key.withBytes { Self.signature(id, seconds, body, key: $0) }
                headers.append(Header("webhook-signature", signature))
            }
            self = .web(path: "", headers: headers, body: body)
        case .ntfy:
            headers += [
                plain, Header("Title", notice.title.ascii),
                Header("Priority", Self.isBad(notice) ? "4" : "3"),
                Header(
                    "Tags",
                    notice.isRehearsal
                        ? "rehearsal" : Self.isBad(notice) ? "warning" : "white_check_mark"
                ),
            ]
            self = .web(path: "", headers: headers, body: notice.text)
        case .alertmanager:
            headers.append(json)
            self = .web(path: "/api/v2/alerts", headers: headers, body: Self.alert(notice).text)
        case .healthcheck:
            headers.append(plain)
            let isBad = Self.isBad(notice) && notice.kind != .needsPerson
            // A rehearsal is noted, and is neither a success nor a failure.
            let path = notice.isRehearsal ? "/log" : isBad ? "/fail" : ""
            self = .web(path: path, headers: headers, body: notice.text)
        case .program:
            self = .program(input: notice.json.text + "\n")
        }
    }

    /// The signature of Standard Webhooks, which covers `id.timestamp.body`.
    package static func signature(
        _ id: String,
        _ timestamp: String,
        _ body: String,
        key: [UInt8]
    ) -> String {
        let signed = Array("\(id).\(timestamp).\(body)".utf8)
        return "v1," + Base64.text(HMAC.code(of: signed, key: key))
    }

    private static func isBad(_ notice: NotifyNotice) -> Bool {
        switch notice.kind {
        case .failed, .paused, .needsPerson, .silent: !notice.isRehearsal
        case .ended, .test: false
        }
    }

    private static func mail(_ notice: NotifyNotice, to address: String, id: String) -> String {
        let characters = Array(Base64.text(Array(notice.text.utf8)).utf8)
        let lines = stride(from: 0, to: characters.count, by: 76).map { start in
            String(decoding: characters[start..<min(start + 76, characters.count)], as: UTF8.self)
        }
        // A header must not contain a long sentence.
        let subject = String(notice.title.ascii.prefix(200))
        return "To: \(address)\nSubject: \(subject)\nMIME-Version: 1.0\n"
            + "Auto-Submitted: auto-generated\nX-Yardmaster-Notice: \(id)\n"
            + "Content-Type: text/plain; charset=utf-8\n"
            + "Content-Transfer-Encoding: base64\n\n" + lines.joined(separator: "\n") + "\n"
    }

    /// An alert ends automatically when it is not repeated for a day.
    private static func alert(_ notice: NotifyNotice) -> JSONValue {
        let severity = isBad(notice) ? "warning" : "info"
        let event = (notice.isRehearsal ? "rehearsal_" : "") + notice.kind.rawValue
        return .array([
            .object([
                "labels": .object([
                    "alertname": .string("Yardmaster_\(event.replacing("-", with: "_"))"),
                    "rollout": .string(notice.rollout ?? ""),
                    "host": .string(notice.host),
                    "severity": .string(severity),
                ]),
                "annotations": .object([
                    "summary": .string(notice.title),
                    "description": .string(notice.text),
                ]),
                "startsAt": .string(notice.time.description),
                "endsAt": .string(notice.time.advanced(by: .seconds(86_400)).description),
            ])
        ])
    }
}
