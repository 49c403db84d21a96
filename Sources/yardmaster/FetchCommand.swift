import Base
import Commands
import Operations
import Store

/// `fetch`: fetches the images of a manifest into the store, without contact to any vehicle.
struct FetchCommand {
    let options: FetchOptions
    let context: Context

    /// Runs the command; in every case the last line contains the exit code.
    func run() async -> ExitCode {
        var summary = FetchSummary()
        do throws(CommandError) {
            let code = try await fetch(&summary)
            tell(summary, code)
            return code
        } catch {
            context.console.note(error.text)
            tell(summary, error.exitCode, error)
            return error.exitCode
        }
    }

    private func fetch(_ summary: inout FetchSummary) async throws(CommandError) -> ExitCode {
        let plan = try Inputs.plan(options.manifest, context, options.common)
        let directory: StateDirectory
        do throws(StateDirectoryError) {
            directory = try StateDirectory.create(at: options.state)
        } catch { throw CommandError(error) }
        let preparation = ImagePreparation(
            plan: plan,
            state: directory.path,
            context: context,
            common: options.common,
            tellsLocalFiles: true
        )
        let outcome = try await preparation.bring()
        summary = outcome.summary
        guard !outcome.wasCut else {
            preparation.noteCut()
            return ImagePreparation.cutCode
        }
        if let refusal = outcome.refusal { throw refusal }
        do throws(TrustRefusal) {
            _ = try await ReleaseVerifier.judge(outcome.images, of: plan, state: directory.path)
        } catch {
            if let image = error.image { summary.refuse(image) }
            throw error.error
        }
        return .done
    }

    private func tell(_ summary: FetchSummary, _ code: ExitCode, _ error: CommandError? = nil) {
        if options.common.wantsJSON {
            context.console.result(summary.document(code, error).text + "\n")
        } else if !options.common.isQuiet {
            context.console.result(summary.text(code))
        } else if code != .done {
            context.console.result(summary.lastLine(code))
        }
    }
}
