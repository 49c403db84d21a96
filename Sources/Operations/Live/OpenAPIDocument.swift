import Commands
import Journal
import Reports
import Wire

/// The description of the interface for programs (OpenAPI 3.1), as docs/api.json keeps it.
///
/// Its documents are described by the forms that write them.
package enum OpenAPIDocument {
    /// A line for each part.
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
        "What `yardmaster serve` gives to programs: the documents of `--json`, and the requests of "
        + "the commands from `pause` to `clear`. Members are added, and never renamed. Times are in "
        + "UTC. Where there is a list of tokens, each request shows one; without a list reading is "
        + "free and requests are refused with 405."

    private static let operations = [
        OpenAPIOperation(
            get: "/api/v1/status",
            "How a rollout stands, and the others in short.",
            [
                OpenAPIParameter(
                    query: "rollout",
                    "The rollout of this name; else the one that ran last."
                )
            ],
            RolloutStatus.jsonForm.schema
        ),
        OpenAPIOperation(
            get: "/api/v1/vehicles/{id}",
            "All that is known of a vehicle.",
            [OpenAPIParameter(path: "id")],
            VehicleStory.jsonForm.schema
        ),
        OpenAPIOperation(
            get: "/api/v1/morning",
            "What people have to do.",
            [
                OpenAPIParameter(
                    query: "since",
                    "From when on: how long ago, or a time of the window's zone."
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
            "The runs that there were, the newest first.",
            [
                OpenAPIParameter(query: "rollout", "Only runs of this rollout."),
                OpenAPIParameter(query: "last", "How many.", within: LiveRoute.runCount),
            ],
            RunList.jsonForm.schema
        ),
        OpenAPIOperation(
            get: "/api/v1/compare",
            "Two runs side by side, and which vehicles they left in different ways.",
            [
                OpenAPIParameter(
                    query: "before",
                    "The number of the one.",
                    within: LiveRoute.runNumber,
                    isRequired: true
                ),
                OpenAPIParameter(
                    query: "after",
                    "The number of the other.",
                    within: LiveRoute.runNumber,
                    isRequired: true
                ),
            ],
            RunComparison.jsonForm.schema
        ),
        OpenAPIOperation(
            "/api/v1/changes",
            "get",
            "Server-sent events: one of the kind `change` when the journal was written to.",
            answers: [
                OpenAPIAnswer(200, "Until the client goes.", "text/event-stream", .anyText),
                .failure(401, "No token, or one that is not known."),
                OpenAPIAnswer(503, "As many listen as may."),
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
                    "The same for everybody.",
                    "application/json",
                    .object(["type": "object"])
                ),
                OpenAPIAnswer(304, "As the client has it."),
            ]
        ),
    ]

    private static let requests = OpenAPIOperation(
        "/api/v1/requests",
        "post",
        "What the commands \(verbs) do, under the name that the token has. For operators.",
        [
            OpenAPIParameter(
                header: RequestKey.header,
                "A text of the sender's own choice by which a request is known again: sent twice with "
                    + "the same key and body it is carried out once, and answered the same both times, "
                    + "also after a restart. The last \(Reply.most) are remembered, each for the person of "
                    + "the token.",
                pattern: RequestKey.pattern
            )
        ],
        takes: SteeringRequest.jsonForm.schema,
        answers: [
            OpenAPIAnswer(
                200,
                "In force, also when it was so before.",
                "application/json",
                SteeringAnswer.jsonForm.schema
            ),
            .failure(400, "No request that can be carried out."),
            .failure(401, "No token, or one that is not known."),
            .failure(403, "The token is a reader's, or the page of another site has sent it."),
            .failure(404, "There is no such rollout."),
            .failure(
                409,
                "Refused; nothing was changed. Or serve was cut off while it carried out a request "
                    + "with this key, and nobody knows how far."
            ),
            .failure(413, "Longer than 8 KiB, or its length was not said beforehand."),
            .failure(415, "No application/json."),
            .failure(422, "Another request was sent with this key; nothing was changed."),
            .failure(503, "Nothing can be written now."),
        ]
    )

    private static var verbs: String {
        let words = SteeringRequest.Verb.allCases.map(\.rawValue)
        return words.dropLast().joined(separator: ", ") + " and " + (words.last ?? "")
    }

    /// Each form with a name once, by name.
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

/// One thing that a program can ask of `serve`.
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

    /// A document to be read.
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
                OpenAPIAnswer(304, "As the client has it."),
                OpenAPIAnswer(400, "No question that can be answered."),
                .failure(401, "No token, or one that is not known."),
                .failure(404, "Nothing to give."),
                .failure(503, "Nothing to give."),
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

/// What a program can say in a request's address or head.
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

/// What a program gets.
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
