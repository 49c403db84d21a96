import CYAML

/// One event of a YAML file, with the line and column where it starts.
struct YAMLEvent {
    enum Kind {
        case documentStart
        case end
        case alias(String)
        case scalar(String, SourceNode.Style, anchor: String?, tagged: Bool)
        case listStart(anchor: String?, tagged: Bool)
        case mapStart(anchor: String?, tagged: Bool)
        case close
        case other
    }

    let kind: Kind
    let line: Int
    let column: Int
}

/// The error with which libyaml stopped.
struct YAMLProblem {
    let words: String
    let line: Int
    let column: Int
    /// The beginning of the construct that has no end.
    let start: (line: Int, column: Int)?
}

/// libyaml's parser, which returns one event after the other and so never recurses.
@safe struct YAMLEvents: ~Copyable {
    private let parser: UnsafeMutablePointer<yaml_parser_t>

    /// Nil only when memory is exhausted; `input` must outlive the parser.
    init?(_ input: UnsafeBufferPointer<UInt8>) {
        let allocated = UnsafeMutablePointer<yaml_parser_t>.allocate(capacity: 1)
        unsafe allocated.initialize(to: yaml_parser_t())
        guard unsafe yaml_parser_initialize(allocated) == 1 else {
            unsafe allocated.deallocate()
            return nil
        }
        unsafe yaml_parser_set_encoding(allocated, YAML_UTF8_ENCODING)
        unsafe yaml_parser_set_input_string(allocated, input.baseAddress, input.count)
        unsafe parser = allocated
    }

    deinit {
        unsafe yaml_parser_delete(parser)
        unsafe parser.deallocate()
    }

    mutating func next() -> Result<YAMLEvent, YAMLFailure> {
        var event = unsafe yaml_event_t()
        guard unsafe yaml_parser_parse(parser, &event) == 1 else {
            return .failure(YAMLFailure(problem))
        }
        defer { unsafe yaml_event_delete(&event) }
        let kind: YAMLEvent.Kind =
            switch unsafe event.type {
            case YAML_DOCUMENT_START_EVENT: .documentStart
            case YAML_NO_EVENT, YAML_STREAM_END_EVENT: .end
            case YAML_ALIAS_EVENT: unsafe .alias(Self.text(event.data.alias.anchor) ?? "")
            case YAML_SCALAR_EVENT: unsafe Self.scalar(event.data.scalar)
            case YAML_SEQUENCE_START_EVENT:
                unsafe .listStart(
                    anchor: Self.text(event.data.sequence_start.anchor),
                    tagged: event.data.sequence_start.tag != nil
                )
            case YAML_MAPPING_START_EVENT:
                unsafe .mapStart(
                    anchor: Self.text(event.data.mapping_start.anchor),
                    tagged: event.data.mapping_start.tag != nil
                )
            case YAML_SEQUENCE_END_EVENT, YAML_MAPPING_END_EVENT: .close
            default: .other
            }
        let mark = unsafe event.start_mark
        return .success(YAMLEvent(kind: kind, line: mark.line + 1, column: mark.column + 1))
    }

    private static func scalar(
        _ scalar: yaml_event_t.__Unnamed_union_data.__Unnamed_struct_scalar
    ) -> YAMLEvent.Kind {
        let bytes = unsafe UnsafeBufferPointer(start: scalar.value, count: scalar.length)
        let style: SourceNode.Style =
            switch unsafe scalar.style {
            case YAML_SINGLE_QUOTED_SCALAR_STYLE, YAML_DOUBLE_QUOTED_SCALAR_STYLE: .quoted
            case YAML_LITERAL_SCALAR_STYLE, YAML_FOLDED_SCALAR_STYLE: .block
            default: .plain
            }
        return unsafe .scalar(
            String(decoding: bytes, as: UTF8.self),
            style,
            anchor: text(scalar.anchor),
            tagged: scalar.tag != nil
        )
    }

    private static func text(_ pointer: UnsafeMutablePointer<UInt8>?) -> String? {
        unsafe pointer.map { unsafe String(cString: $0) }
    }

    private var problem: YAMLProblem {
        let failed = unsafe parser.pointee
        let context = unsafe failed.context_mark
        return unsafe YAMLProblem(
            words: failed.problem.map { unsafe String(cString: $0) } ?? "out of memory",
            line: unsafe failed.problem_mark.line + 1,
            column: unsafe failed.problem_mark.column + 1,
            start: unsafe failed.context == nil ? nil : (context.line + 1, context.column + 1)
        )
    }
}

/// A problem as an error, for `Result`.
struct YAMLFailure: Error {
    let problem: YAMLProblem

    init(_ problem: YAMLProblem) { self.problem = problem }
}
