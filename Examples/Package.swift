// swift-tools-version: 6.2
import PackageDescription

// The examples as somebody else's package: they see what the library makes public, and no more.
let package = Package(
    name: "examples",
    dependencies: [.package(name: "yardmaster", path: "..")],
    targets: [
        "FollowModule", "ScanAndRead", "SetLights", "UnlockVehicle", "UpdateModule", "UseLock",
    ].map { name in
        .executableTarget(
            name: name,
            dependencies: [.product(name: "VehicleModules", package: "yardmaster")],
            path: name
        )
    }
)
