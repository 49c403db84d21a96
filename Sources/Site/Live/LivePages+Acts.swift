import Base
import Commands
import Operations
import Show

/// Requests that change something: signing in and out, and requests of people and programs.
///
/// A form is accepted once, from a browser that has signed in, and from one of our pages. A program
/// sends its token with each request; a browser's session does not count there.
extension LivePages {
    func post(_ request: WebRequest, _ route: LiveRoute, _ viewer: LiveGate.Viewer)
        -> WebAnswer
    {
        switch route {
        case .session, .leaving, .act(nil):
            guard LiveOrigin.isOurs(origin: request.origin, site: request.site, host: request.host)
            else {
                return refusal(403, "This was sent by the page of another site", Self.nothing)
            }
            guard let body = request.body else { return tooLong }
            guard Self.type(request) == "application/x-www-form-urlencoded",
                let fields = try? LiveTarget.form(body[...])
            else { return refusal(400, "This is not one of our forms", Self.nothing) }
            switch route {
            case .session: return signIn(fields, request)
            case .leaving: return leave(fields, viewer, request)
            case .page, .document, .description, .changes, .health, .metrics, .style, .script, .act,
                .requests:
                return act(fields, viewer)
            }
        case .requests:
            // A browser states where a request comes from; a program does not.
            guard request.site.map({ $0 == "same-origin" || $0 == "none" }) ?? true,
                request.origin == nil
                    || LiveOrigin.isOurs(
                        origin: request.origin,
                        site: request.site,
                        host: request.host
                    )
            else {
                return document(
                    403,
                    .init(.usage, "the request was sent by the page of another site")
                )
            }
            return requests(request, viewer)
        case .page, .document, .description, .changes, .health, .metrics, .style, .script, .act:
            return notAllowed(
                request,
                "GET, HEAD",
                "Nothing can be sent to this address",
                "Use GET or HEAD."
            )
        }
    }

    private static let nothing = "Nothing was changed."

    private var tooLong: WebAnswer {
        refusal(413, "This is too long", "At most 8 KiB are accepted, with a Content-Length.")
    }

    /// Without its parameters.
    private static func type(_ request: WebRequest) -> String {
        (request.type ?? "").prefix { $0 != ";" && $0 != " " }.lowercased()
    }

    // MARK: Browsers

    private func signIn(_ fields: [String: String], _ request: WebRequest) -> WebAnswer {
        let session: String
        switch fields.count == 1 ? gate.begin(with: fields[LiveActPage.token] ?? "") : .unknown {
        case .session(let begun): session = begun
        case .late: return personal(429, LiveActPage.signIn(fault: Self.late))
        case .unknown:
            note(unknownTokenAt: request)
            return personal(401, LiveActPage.signIn(fault: "This token is not known."))
        }
        return .whole(
            status: 303,
            headers: Self.personalHeaders + [
                (name: "Location", value: "/"),
                (
                    name: "Set-Cookie",
                    value: Self.cookie(session, seconds: 43_200, request)
                ),
            ],
            body: []
        )
    }

    private static func cookie(_ value: String, seconds: Int, _ request: WebRequest) -> String {
        "\(LiveCredential.cookie(isEncrypted: request.isEncrypted))=\(value); Path=/; HttpOnly; "
            + "SameSite=Strict; Max-Age=\(seconds)\(request.isEncrypted ? "; Secure" : "")"
    }

    private func leave(
        _ fields: [String: String],
        _ viewer: LiveGate.Viewer,
        _ request: WebRequest
    ) -> WebAnswer {
        guard case .person(_, let session?) = viewer else { return unknown }
        guard fields.count == 1, let mark = fields[LiveActPage.mark],
            gate.take(mark, for: Self.leaving, from: session)
        else { return stale }
        gate.end(session)
        return .whole(
            status: 303,
            headers: Self.personalHeaders + [
                (name: "Location", value: "/session"),
                (
                    name: "Set-Cookie",
                    value: Self.cookie("", seconds: 0, request)
                ),
            ],
            body: []
        )
    }

    private func act(_ fields: [String: String], _ viewer: LiveGate.Viewer) -> WebAnswer {
        guard case .person(let person, let session?) = viewer else { return unknown }
        guard person.mayAct else { return notAllowed(person) }
        var fields = fields
        let mark = fields.removeValue(forKey: LiveActPage.mark) ?? ""
        let request: SteeringRequest
        do throws(SteeringRequest.Fault) {
            request = try SteeringRequest(form: fields, author: person.author)
        } catch { return refusal(400, "This cannot be done", "\(error).") }
        let act = LiveAct(
            request.verb,
            rollout: request.rollout,
            vehicle: request.vehicles.first?.text
        )
        guard gate.take(mark, for: act.purpose, from: session) else { return stale }
        switch perform(request) {
        case .success(let answer):
            let frame = LiveActPage.done(act, answer.sentence, isRefused: answer.isRefused)
            return personal(answer.isRefused ? 409 : 200, frame)
        case .failure(let error):
            let frame = LiveActPage.done(act, error.sentence, isRefused: true)
            return personal(Self.status(error), frame)
        }
    }

    /// A form that was not given to this browser, or was already sent.
    private var stale: WebAnswer {
        refusal(
            403,
            "This form is no longer valid",
            "It was already used, or is not one of ours. Go back and open it again. \(Self.nothing)"
        )
    }

    private var unknown: WebAnswer {
        personal(401, LiveActPage.signIn(fault: "Sign in first; nothing was changed."))
    }

    private func notAllowed(_ person: LiveAccess.Person) -> WebAnswer {
        refusal(403, "\(person.name) may look and not act", Self.nothing)
    }

    /// The pages of one person, which are not cached.
    func personal(_ route: LiveRoute, _ viewer: LiveGate.Viewer) -> WebAnswer {
        switch (route, viewer) {
        case (.session, .nobody): return personal(200, LiveActPage.signIn())
        case (.session, .person(let person, let session)):
            let mark = session.map { gate.give(for: Self.leaving, to: $0) }
            return personal(
                200,
                LiveActPage.session(
                    person.name,
                    role: person.role.rawValue,
                    mayAct: person.mayAct,
                    mark: mark
                )
            )
        case (.act(let act?), .person(let person, let session?)):
            guard person.mayAct else { return notAllowed(person) }
            let mark = gate.give(for: act.purpose, to: session)
            return personal(200, LiveActPage.form(act, mark: mark))
        case (.act, .person), (.act, .nobody): return unknown
        default: return refusal(404, "There is nothing here", "Signing in is not required.")
        }
    }

    private static let leaving = "leave"

    func personal(_ status: Int, _ frame: LiveFrame) -> WebAnswer {
        let text = frame.text(made: nil, isSignedIn: status != 401 && status != 429)
        return .whole(
            status: status,
            headers: Self.personalHeaders
                + (status == 429 ? [(name: "Retry-After", value: "60")] : []),
            body: Array(text.utf8)
        )
    }

    private static var personalHeaders: [(name: String, value: String)] {
        headers(html, cache: "no-store")
    }

    // MARK: Programs

    private func requests(_ request: WebRequest, _ viewer: LiveGate.Viewer) -> WebAnswer {
        guard request.authorization != nil, case .person(let person, nil) = viewer else {
            return document(401, .init(.usage, "send a token: 'Authorization: Bearer TOKEN'"))
        }
        guard person.mayAct else {
            return document(403, .init(.usage, "\(person.name) may look and not act"))
        }
        guard let body = request.body else {
            return document(413, .init(.usage, "at most 8 KiB are accepted, with a Content-Length"))
        }
        guard Self.type(request) == "application/json" else {
            return document(415, .init(.usage, "send application/json"))
        }
        let wanted: SteeringRequest
        do throws(SteeringRequest.Fault) {
            guard let value = try? JSONValue(json: body) else {
                return document(400, .init(.usage, "that is no JSON"))
            }
            wanted = try SteeringRequest(json: value, author: person.author)
        } catch { return document(400, .init(.usage, "\(error)")) }
        guard let text = request.key else {
            switch perform(wanted) {
            case .success(let answer):
                let (status, value) = answer.document(of: wanted)
                return document(status, value)
            case .failure(let error): return document(Self.status(error), error)
            }
        }
        guard let key = RequestKey(text, body: body) else {
            return document(
                400,
                .init(
                    .usage,
                    "'\(RequestKey.header)' is 1 to 200 visible characters of ASCII, once"
                )
            )
        }
        return once(wanted, key)
    }

    /// A request that may have been sent before.
    private func once(_ request: SteeringRequest, _ key: RequestKey) -> WebAnswer {
        defer { forget() }
        switch queue.perform(request, once: key) {
        case .success(.document(let status, let text)): return document(status, text: text)
        case .success(.otherRequest):
            return document(
                422,
                .init(
                    .usage,
                    "another request was sent with this key, and nothing was changed",
                    hint: "give each request a key of its own"
                )
            )
        case .success(.nobodyKnows):
            return document(
                409,
                .init(
                    .usage,
                    "serve was cut off while it carried this request out: nobody knows how far",
                    hint: "look at the status, then send the missing part with another key"
                )
            )
        case .failure(let error): return document(Self.status(error), error)
        }
    }

    func document(_ status: Int, _ error: CommandError) -> WebAnswer {
        document(status, error.document)
    }

    private func document(_ status: Int, _ value: JSONValue) -> WebAnswer {
        document(status, text: value.text)
    }

    private func document(_ status: Int, text: String) -> WebAnswer {
        var headers = Self.headers("application/json", cache: "no-store")
        if status == 401 { headers.append((name: "WWW-Authenticate", value: "Bearer")) }
        if status == 429 { headers.append((name: "Retry-After", value: "60")) }
        return .whole(status: status, headers: headers, body: Array(text.utf8) + [0x0A])
    }

    private func perform(
        _ request: SteeringRequest
    ) -> Result<SteeringAnswer, CommandError> {
        defer { forget() }
        return queue.perform(request)
    }
}
