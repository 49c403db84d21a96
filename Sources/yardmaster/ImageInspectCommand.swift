import Base
import Commands
import Images
import Operations

/// `image inspect`: the content of an image file, the modules that it fits, and whether it is
/// intact.
struct ImageInspectCommand {
    let path: String
    let common: CommonOptions
    /// Nil when no state directory is given.
    private let store: StoreFolder?

    init(_ invocation: Invocation, _ context: Context) {
        let state = try? CommonOptions.stateDirectory(invocation, context, toLook: true)
        let store = state.map { StoreFolder(stateDirectory: $0) }
        self.store = store
        let argument = invocation.arguments[0]
        // An image of the store may be given by its digest.
        let stored = SHA256Digest(argument).flatMap { digest in store?.path(of: digest) }
        path = stored ?? argument
        common = CommonOptions(invocation)
    }

    /// The facts about its origin that this depot has.
    private func provenance(of bytes: [UInt8]) -> ImageProvenance {
        guard let store else { return ImageProvenance() }
        return ImageProvenance(record: ImageRecords(store).all()[SHA256.digest(of: bytes)])
    }

    func run(_ context: Context) throws(CommandError) -> ExitCode {
        let bytes: [UInt8]
        do throws(ImageError) {
            bytes = try InspectedImage.read(path)
        } catch {
            throw CommandError(
                .inputMissing,
                error.description,
                hint: "give the path of an image or of a package of images"
            )
        }
        let image: InspectedImage
        do throws(InspectionError) {
            image = try InspectedImage(bytes)
        } catch {
            return tell(error, of: bytes, context)
        }
        let report = ImageReport(image)
        context.answer(common, document(bytes, report, nil), text(bytes, report))
        return .done
    }

    private func tell(
        _ error: InspectionError,
        of bytes: [UInt8],
        _ context: Context
    ) -> ExitCode {
        let place = error.place.map { "\(path): \($0)" } ?? path
        context.console.note(
            "yardmaster: error: \(place.visible): \(error.description.visible)\n"
        )
        if common.wantsJSON {
            context.console.result(document(bytes, nil, error).text + "\n")
        }
        return .invalidManifest
    }

    private func text(_ bytes: [UInt8], _ report: ImageReport) -> String {
        let state =
            report.isChecked ? "intact" : "encrypted, so that only its structure was checked"
        var lines = ["\(path.visible): \(report.kind.words), \(state)"]
        lines.append("  \(bytes.count) bytes, SHA-256 \(SHA256.digest(of: bytes))")
        lines += provenance(of: bytes).words.map { "  " + $0 }
        for part in report.parts {
            lines.append("\(part.title.visible):")
            lines += part.facts.map { "  \($0.name): \($0.text.visible)" }
        }
        lines += report.warnings.map { "warning: \($0.visible)" }
        return lines.joined(separator: "\n") + "\n"
    }

    private func document(
        _ bytes: [UInt8],
        _ report: ImageReport?,
        _ error: InspectionError?
    ) -> JSONValue {
        let code: ExitCode = error == nil ? .done : .invalidManifest
        return .object([
            "schema": 1,
            "file": .string(path),
            "size": .int(bytes.count),
            "sha256": .string(SHA256.digest(of: bytes).description),
            "provenance": provenance(of: bytes).document,
            "intact": .bool(error == nil),
            "kind": report.map { .string($0.kind.rawValue) },
            "parts": report.map { report in
                .array(
                    report.parts.map { part in
                        .object(part.facts.map { JSONMember($0.key, $0.value) })
                    }
                )
            },
            "warnings": report.map { .array($0.warnings.map { .string($0) }) },
            "fault": error.map { error in
                .object([
                    "place": error.place.map { .string($0) },
                    "message": .string(error.description),
                ])
            },
            "exit": code.json,
        ])
    }
}
