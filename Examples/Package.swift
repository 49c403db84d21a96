// swift-tools-version: 6.2
import PackageDescription

// The examples are a package of their own, so they see only what the library makes public.
let package = Package(
    name: "examples",
    dependencies: [.package(name: "yardmaster", path: "..")],
    targets: [
        "FollowModule", "OwnFamily", "ScanAndRead", "SeedTour", "SetLights", "UnlockVehicle",
        "UpdateModule", "UseLock",
    ].map { name in
        .executableTarget(
            name: name,
            dependencies: [.product(name: "VehicleModules", package: "yardmaster")],
            path: name
        )
    }
)
