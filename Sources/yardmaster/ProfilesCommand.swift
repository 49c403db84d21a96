import Base
import Commands
import Families
import Operations
import Radio
import Show

/// `profiles`: lists, prints and checks the profiles of modules, and helps to write one for another
/// model.
struct ProfilesCommand {
    private let invocation: Invocation
    private let common: CommonOptions
    private let context: Context

    init(_ invocation: Invocation, _ context: Context) throws(CommandError) {
        self.invocation = invocation
        self.context = context
        common = try CommonOptions(invocation, context)
    }

    // MARK: list

    func list() -> ExitCode {
        let profiles = common.profiles.all
        context.answer(
            common,
            .object([
                "schema": 1,
                "profiles": .array(profiles.map { Self.document($0) }),
                "exit": Self.done,
            ]),
            Columns.text(
                ["profile", "title", "from"],
                profiles.map { [Self.name($0), $0.title.visible, $0.source ?? "built in"] }
            )
        )
        return .done
    }

    private static func name(_ profile: Profile) -> String {
        "\(profile.family.rawValue)/\(profile.name)"
    }

    private static func document(_ profile: Profile) -> JSONValue {
        .object([
            "family": .string(profile.family.rawValue),
            "name": .string(profile.name),
            "title": .string(profile.title),
            "known-from": .string(profile.basis),
            "file": profile.source.map { .string($0) },
        ])
    }

    private static let done = ExitCode.done.json

    // MARK: show

    func show() throws(CommandError) -> ExitCode {
        let wanted = invocation.arguments[0]
        let named = common.profiles.all.filter {
            Self.name($0) == wanted || $0.name == wanted
        }
        guard let profile = named.first, named.count == 1 else {
            let names = (named.isEmpty ? common.profiles.all : named).map(Self.name)
            throw CommandError(
                .inputMissing,
                named.isEmpty
                    ? "there is no profile \(wanted.visible)"
                    : "several families have a profile \(wanted.visible)",
                hint: named.isEmpty
                    ? Nearest.hint(wanted, among: names)
                    : "name one: " + names.joined(separator: ", ")
            )
        }
        let text = try text(of: profile)
        if common.wantsJSON {
            let document = JSONValue.object([
                "schema": 1,
                "profile": Self.document(profile),
                "text": .string(text),
                "exit": Self.done,
            ])
            context.console.result(document.text + "\n")
        } else {
            context.console.result(text)
        }
        return .done
    }

    private func text(of profile: Profile) throws(CommandError) -> String {
        if let path = profile.source {
            do throws(FileError) {
                let bytes = try TextFile.read(path: path, limit: Profile.limits.bytes)
                return String(decoding: bytes, as: UTF8.self)
            } catch { throw CommandError(.inputMissing, error.description) }
        }
        let file = "\(profile.family.rawValue)-\(profile.name).yaml"
        let bytes = FamilyRegistry.profiles.first { $0.name == file }?.bytes ?? []
        return String(decoding: bytes, as: UTF8.self)
    }

    // MARK: check

    func check() throws(CommandError) -> ExitCode {
        let path = invocation.arguments[0]
        let diagnostics = Diagnostics()
        let profile: Profile?
        do throws(FileError) {
            profile = try Profile.load(path: path, of: FamilyRegistry.shapes, diagnostics)
        } catch {
            throw CommandError(
                .inputMissing,
                error.description,
                hint: "give the path of a profile"
            )
        }
        if common.wantsJSON {
            context.console.result(document(of: profile, diagnostics.list).text + "\n")
            return profile == nil ? .invalidManifest : .done
        }
        Inputs.tell(diagnostics.list, context)
        guard let profile else { throw Inputs.invalid(path, diagnostics.list) }
        if !common.isQuiet {
            context.console.result(
                "\(path): valid: \(Self.name(profile)), \(profile.title.visible)\n"
            )
        }
        return .done
    }

    private func document(of profile: Profile?, _ list: [Diagnostic]) -> JSONValue {
        let code: ExitCode = profile == nil ? .invalidManifest : .done
        return .object([
            "schema": 1,
            "valid": .bool(profile != nil),
            "profile": profile.map { Self.document($0) },
            "diagnostics": .array(list.map(\.document)),
            "exit": code.json,
        ])
    }
}
