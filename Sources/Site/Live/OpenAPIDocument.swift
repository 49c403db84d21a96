import Base
import Commands
import Operations
import Show
import Store

/// The description of the interface for programs (OpenAPI 3.1).
///
/// Its schemas are made from the same forms that write the documents.
package enum OpenAPIDocument {
    /// The document with a line for each part.
    package static var text: String { json.indented }

    private static var json: JSONValue {
        .object([
            "openapi": "3.1.0",
            "info": .object([
                "title": "Yardmaster", "version": "1", "description": .string(introduction),
            ]),
            "servers": .array([.object(["url": "http://127.0.0.1:8750"])]),
            "paths": .object(operations.map { JSONMember($0.path, $0.json) }),
            "components": .object([
                "schemas": .object(schemas),
                "securitySchemes": .object([
                    "token": .object(["type": "http", "scheme": "bearer"])
                ]),
            ]),
            "security": .array([.object(["token": .array([])]), .object([])]),
        ])
    }

    private static let introduction =
        "The interface of `yardmaster serve` for programs: the documents of `--json`, and the "
        + "requests of the commands from `pause` to `clear`. Members are added, and never renamed. "
        + "Times are in UTC. If there is a list of tokens, each request needs one; without a list, "
        + "reading is open to everybody and requests are refused with 405."

    private static let operations = [
        OpenAPIOperation(
            get: "/api/v1/status",
            "The status of a rollout, and a summary of the others.",
            [
                OpenAPIParameter(
                    query: "rollout",
                    "The name of the rollout; default: the one that ran last."
                )
            ],
            RolloutStatus.jsonForm.schema
        ),
        OpenAPIOperation(
            get: "/api/v1/vehicles/{id}",
            "All facts about a vehicle.",
            [OpenAPIParameter(path: "id")],
            VehicleStory.jsonForm.schema
        ),
        OpenAPIOperation(
            get: "/api/v1/morning",
            "The tasks for people.",
            [
                OpenAPIParameter(
                    query: "since",
                    "The beginning: how long ago, or a time of the window's zone."
                ),
                OpenAPIParameter(
                    query: "days",
                    "After how many days a vehicle is stale.",
                    within: LiveRoute.staleDays
                ),
            ],
            MorningPage.jsonForm.schema
        ),
        OpenAPIOperation(
            get: "/api/v1/history",
            "The runs so far, the newest first.",
            [
                OpenAPIParameter(query: "rollout", "Only runs of this rollout."),
                OpenAPIParameter(query: "last", "The number of runs.", within: LiveRoute.runCount),
            ],
            RunList.jsonForm.schema
        ),
        OpenAPIOperation(
            get: "/api/v1/compare",
            "Two runs compared, and the vehicles with different outcomes.",
            [
                OpenAPIParameter(
                    query: "before",
                    "The number of the first run.",
                    within: LiveRoute.runNumber,
                    isRequired: true
                ),
                OpenAPIParameter(
                    query: "after",
                    "The number of the second run.",
                    within: LiveRoute.runNumber,
                    isRequired: true
                ),
            ],
            RunComparison.jsonForm.schema
        ),
        OpenAPIOperation(
            "/api/v1/changes",
            "get",
            "Server-sent events: an event `change` whenever the journal was written to.",
            answers: [
                OpenAPIAnswer(200, "Until the client disconnects.", "text/event-stream", .anyText),
                .failure(401, "No token, or an unknown one."),
                OpenAPIAnswer(503, "The limit of listening clients is reached."),
            ]
        ),
        requests,
        OpenAPIOperation(
            "/api/v1/openapi.json",
            "get",
            "This description.",
            answers: [
                OpenAPIAnswer(
                    200,
                    "The description, the same for all clients.",
                    "application/json",
                    .object(["type": "object"])
                ),
                OpenAPIAnswer(304, "Unchanged."),
            ]
        ),
    ]

    private static let requests = OpenAPIOperation(
        "/api/v1/requests",
        "post",
        "Does what the commands \(verbs) do, in the name of the token's owner. For operators.",
        [
            OpenAPIParameter(
                header: RequestKey.header,
                "A text, chosen by the client, that identifies a request: sent twice with the same "
                    + "key and body it is carried out once and gets the same answer both times, "
                    + "even after a restart. The last \(Reply.most) are remembered, each for the "
                    + "owner of the token.",
                pattern: RequestKey.pattern
            )
        ],
        takes: SteeringRequest.jsonForm.schema,
        answers: [
            OpenAPIAnswer(
                200,
                "In force, even if it was in force before.",
                "application/json",
                SteeringAnswer.jsonForm.schema
            ),
            .failure(400, "Not a request that can be carried out."),
            .failure(401, "No token, or an unknown one."),
            .failure(403, "The token is a reader's, or the page of another site sent the request."),
            .failure(404, "There is no such rollout."),
            .failure(
                409,
                "Refused; nothing was changed. Or serve was interrupted while it carried out a "
                    + "request with this key, and it is unknown how far it got."
            ),
            .failure(413, "Longer than 8 KiB, or without Content-Length."),
            .failure(415, "Not application/json."),
            .failure(422, "Another request was sent with this key; nothing was changed."),
            .failure(503, "Nothing can be written now."),
        ]
    )

    private static var verbs: String {
        let words = SteeringVerb.allCases.map(\.rawValue)
        return words.dropLast().joined(separator: ", ") + " and " + (words.last ?? "")
    }

    /// Each named form once, by name.
    private static var schemas: [JSONMember] {
        var schemas: [String: JSONValue] = [:]
        for member in RolloutStatus.jsonForm.named + VehicleStory.jsonForm.named
            + MorningPage.jsonForm.named + RunList.jsonForm.named + RunComparison.jsonForm.named
            + SteeringRequest.jsonForm.named
            + SteeringAnswer.jsonForm.named + CommandError.jsonForm.named
        {
            precondition(schemas[member.name] ?? member.value == member.value, member.name)
            schemas[member.name] = member.value
        }
        return schemas.sorted { $0.key < $1.key }.map { JSONMember($0.key, $0.value) }
    }
}

/// One operation that a program can request from `serve`.
struct OpenAPIOperation {
    let path: String
    let method: String
    let summary: String
    let parameters: [OpenAPIParameter]
    let body: JSONValue?
    let answers: [OpenAPIAnswer]

    init(
        _ path: String,
        _ method: String,
        _ summary: String,
        _ parameters: [OpenAPIParameter] = [],
        takes body: JSONValue? = nil,
        answers: [OpenAPIAnswer]
    ) {
        self.path = path
        self.method = method
        self.summary = summary
        self.parameters = parameters
        self.body = body
        self.answers = answers
    }

    /// Reads a document.
    init(
        get path: String,
        _ summary: String,
        _ parameters: [OpenAPIParameter],
        _ document: JSONValue
    ) {
        self.init(
            path,
            "get",
            summary,
            parameters,
            answers: [
                OpenAPIAnswer(200, "The document, with an ETag.", "application/json", document),
                OpenAPIAnswer(304, "Unchanged."),
                OpenAPIAnswer(400, "Not a valid query."),
                .failure(401, "No token, or an unknown one."),
                .failure(404, "There is no such document."),
                .failure(503, "The document cannot be made now."),
            ]
        )
    }

    var json: JSONValue {
        let content = body.map { JSONValue.object(["application/json": .object(["schema": $0])]) }
        return .object([
            JSONMember(
                method,
                .object([
                    "summary": .string(summary),
                    "parameters": parameters.isEmpty ? nil : .array(parameters.map(\.json)),
                    "requestBody": content.map { .object(["required": true, "content": $0]) },
                    "responses": .object(answers.map { JSONMember("\($0.status)", $0.json) }),
                ])
            )
        ])
    }
}

/// A parameter in a request's address or headers.
struct OpenAPIParameter {
    let name: String
    let json: JSONValue

    init(query name: String, _ sentence: String) {
        self.init(name, "query", sentence, .anyText)
    }

    init(
        query name: String,
        _ sentence: String,
        within range: ClosedRange<Int>,
        isRequired: Bool = false
    ) {
        let schema = JSONValue.object([
            "type": "integer", "minimum": .int(range.lowerBound), "maximum": .int(range.upperBound),
        ])
        self.init(name, "query", sentence, schema, isRequired: isRequired)
    }

    init(path name: String) { self.init(name, "path", nil, .anyText, isRequired: true) }

    init(header name: String, _ sentence: String, pattern: String) {
        let schema = JSONValue.object(["type": "string", "pattern": .string(pattern)])
        self.init(name, "header", sentence, schema)
    }

    private init(
        _ name: String,
        _ place: String,
        _ sentence: String?,
        _ schema: JSONValue,
        isRequired: Bool = false
    ) {
        self.name = name
        json = .object([
            "name": .string(name), "in": .string(place), "required": .bool(isRequired),
            "description": sentence.map { .string($0) }, "schema": schema,
        ])
    }
}

/// An answer to a program.
struct OpenAPIAnswer {
    let status: Int
    let json: JSONValue

    init(_ status: Int, _ sentence: String) {
        self.status = status
        json = .object(["description": .string(sentence)])
    }

    init(_ status: Int, _ sentence: String, _ type: String, _ schema: JSONValue) {
        self.status = status
        json = .object([
            "description": .string(sentence),
            "content": .object([JSONMember(type, .object(["schema": schema]))]),
        ])
    }

    static func failure(_ status: Int, _ sentence: String) -> OpenAPIAnswer {
        OpenAPIAnswer(status, sentence, "application/json", CommandError.jsonForm.schema)
    }
}

extension JSONValue {
    /// The schema of any text.
    fileprivate static let anyText = JSONValue.object(["type": "string"])
}
