import Base
import Glibc

extension ImageFetcher {
    package func image(
        _ request: ImageRequest,
        from origins: [Origin],
        progress: @escaping @Sendable (FetchProgress) -> Void
    ) async throws(FetchError) -> StoredImage {
        if let image = try present(request) {
            progress(.present(image.size))
            return image
        }
        let part = try await lockedPart(request, progress)
        // Another process may have fetched it while we waited for the lock.
        if let image = try present(request) {
            progress(.present(image.size))
            return image
        }
        let fetch = ImageFetch(request, part, progress)
        do throws(ImageError) { try part.takeUp(limit: fetch.expectation.limit) } catch {
            throw error == .cancelled ? .cancelled : .store(error)
        }
        var failures: [FetchError.Failure] = []
        // A part that was complete when its process ended only needs its name.
        if part.count > 0, fetch.isRight { return try await publish(fetch) }
        for origin in origins {
            do throws(OriginError) {
                try await bring(fetch, from: origin)
            } catch {
                switch error {
                case .download(.cancelled), .image(.cancelled):
                    part.keep()
                    throw .cancelled
                case .image(let fault) where fault.isOfStore:
                    part.keep()
                    throw .store(fault)
                case .download, .image:
                    failures.append(FetchError.Failure(origin, error))
                    progress(.abandoned(origin, because: error))
                    continue
                }
            }
            return try await publish(fetch)
        }
        part.keep()
        throw .origins(failures)
    }

    private func present(_ request: ImageRequest) throws(FetchError) -> StoredImage? {
        do throws(ImageError) {
            return try StoredImage.verified(request, at: store.path(of: request.digest))
        } catch { throw .store(error) }
    }

    private func publish(_ fetch: ImageFetch) async throws(FetchError) -> StoredImage {
        do throws(ImageError) {
            let path = try await publish(fetch.part)
            fetch.progress(.stored(fetch.size))
            return StoredImage(
                name: fetch.request.name,
                digest: fetch.request.digest,
                size: fetch.size,
                path: path
            )
        } catch { throw .store(error) }
    }

    /// Locks the part, waiting while another process has it.
    private func lockedPart(
        _ request: ImageRequest,
        _ progress: (FetchProgress) -> Void
    ) async throws(FetchError) -> Part {
        var isTold = false
        while true {
            do throws(ImageError) {
                try store.prepare(for: request.digest)
                if let part = try Part(locking: request.digest, in: store) { return part }
            } catch { throw .store(error) }
            if !isTold {
                let path = store.partPath(of: request.digest)
                progress(.waitingFor(process: LockOwner.process(of: path)))
                isTold = true
            }
            await time.sleep(for: settings.lockPause, "another process to fetch \(request.name)")
            guard !Task.isCancelled else { throw .cancelled }
        }
    }

    /// Fetches the whole image from one origin, including the bytes that are here already.
    private func bring(_ fetch: ImageFetch, from origin: Origin) async throws(OriginError) {
        switch origin {
        case .file(let path): try await copy(fetch, from: path)
        case .web(let address):
            await enter()
            defer { leave() }
            try await download(fetch, from: address)
        }
    }

    /// Reads a file on this machine; bytes that were here before are read again, too.
    private func copy(_ fetch: ImageFetch, from path: String) async throws(OriginError) {
        var found: ImageError?
        do throws(ImageError) {
            let file = try ImageFile(reading: path)
            try fetch.part.restart()
            fetch.progress(.started(.file(path), from: .zero, total: fetch.request.size))
            while let chunk = try file.chunk(at: fetch.part.count) {
                guard !Task.isCancelled else { throw .cancelled }
                try fetch.take(chunk.bytes)
                // Between the pieces of a slow disk, other work of this thread can run.
                await Task.yield()
            }
            try fetch.check()
        } catch { found = error }
        guard let found else { return }
        if !found.isOfStore, found != .cancelled { fetch.forget() }
        if case .missing(let path) = found { throw .download(.noFile(path)) }
        throw .image(found)
    }

    private func download(
        _ fetch: ImageFetch,
        from address: WebAddress
    ) async throws(OriginError) {
        let origin = Origin.web(address)
        let limit = settings.deadline(for: fetch.expectation.limit)
        let end = time.now.advanced(by: limit)
        var backoff = Backoff(settings)
        var hasBegunAnew = false
        while true {
            let before = fetch.part.count
            let began = time.now
            let result = await transfer(fetch, from: address, until: end)
            switch result {
            case .success:
                if fetch.isRight { return }
                let error = fetch.error
                fetch.forget()
                // The beginning may be of another file. Only a transfer of the whole from one
                // origin can show it, and it is tried once.
                if before == 0 || hasBegunAnew { throw error }
                hasBegunAnew = true
            case .failure(.download(let error)):
                let spent = began.duration(to: time.now)
                if settings.isProgress(fetch.part.count - before, in: spent) { backoff.reset() }
                if before > 0, error.isAboutTheRest, !hasBegunAnew {
                    fetch.forget()
                    hasBegunAnew = true
                    continue
                }
                do throws(DownloadError) {
                    try await pause(
                        &backoff,
                        after: error,
                        at: origin,
                        until: end,
                        progress: fetch.progress
                    )
                } catch {
                    if OriginError.download(error).isDeceit { fetch.forget() }
                    throw .download(error)
                }
            case .failure(.image(let error)): throw .image(error)
            }
        }
    }

    /// One transfer: a small image is hashed and written by libcurl's thread; with a large one,
    /// libcurl receives the next bytes at the same time.
    private func transfer(
        _ fetch: ImageFetch,
        from address: WebAddress,
        until end: Moment
    ) async -> Result<Void, OriginError> {
        let exchange: Exchange
        do throws(DownloadError) { exchange = try self.exchange() } catch {
            return .failure(.download(error))
        }
        let note = fetch.part.note
        let request = ExchangeRequest(
            address: address,
            from: fetch.part.count,
            validator: note.flatMap { $0.isFrom(address) ? $0.validator : nil },
            redirects: settings.redirects,
            deadline: time.now.duration(to: end),
            askedAt: time.wallTime,
            settings: settings
        )
        if fetch.expectation.limit <= settings.inPlaceSize {
            return await takeInPlace(fetch, request, exchange)
        }
        return await takePieces(fetch, request, exchange)
    }

    private func takeInPlace(
        _ fetch: ImageFetch,
        _ request: ExchangeRequest,
        _ exchange: Exchange
    ) async -> Result<Void, OriginError> {
        let taker = PartTaker(
            fetch,
            fetch.expectation(from: request.from),
            request.address,
            settings,
            time,
            shelf
        )
        let result = await exchange.run(request, into: taker)
        return Self.outcome(result, taker.fault)
    }

    private func takePieces(
        _ fetch: ImageFetch,
        _ request: ExchangeRequest,
        _ exchange: Exchange
    ) async -> Result<Void, OriginError> {
        let taker = PieceTaker(
            exchange,
            fetch.expectation(from: request.from),
            settings,
            time,
            shelf
        )
        async let answer = exchange.run(request, into: taker)
        var fault: ImageError?
        for await piece in taker.pieces {
            do throws(ImageError) {
                switch piece {
                case .begin(let head, let start):
                    if fault == nil {
                        try fetch.begin(head, at: start, from: request.address, settings)
                    }
                case .bytes(let chunk):
                    if fault == nil { try fetch.take(chunk.bytes) }
                    taker.done(chunk.count)
                }
            } catch {
                fault = error
                exchange.cancel(.cancelled)
            }
        }
        let result = await answer
        for chunk in taker.leftOver where fault == nil {
            do throws(ImageError) { try fetch.take(chunk.bytes) } catch { fault = error }
        }
        return Self.outcome(result, fault)
    }

    private static func outcome(
        _ result: CurlLoop.CurlResult,
        _ fault: ImageError?
    ) -> Result<Void, OriginError> {
        if let fault { return .failure(.image(fault)) }
        switch result {
        case .success: return .success(())
        case .failure(let error): return .failure(.download(error))
        }
    }
}

extension DownloadError {
    /// Whether the error concerns the requested range and not the file.
    fileprivate var isAboutTheRest: Bool {
        switch self {
        case .status(416, _), .badAnswer, .wrongLength, .tooLong: true
        case .status, .noFile, .file, .unreachable, .cut, .tooSlow, .tls, .weakerRedirect,
            .tooManyRedirects, .redirected, .webPage, .proxy, .configuration, .noLibrary,
            .cancelled:
            false
        }
    }
}
