# The documentation of the three libraries, as one site of static pages.

documentation() {
    local products=$PWD/$build/debug folder=$PWD/$build/documentation maps=() archives=() dependencies=() map target module archive
    debug_build
    target=$(swift -print-target-info | sed -n 's/.*"unversionedTriple": "\(.*\)".*/\1/p')
    for map in "$products"/C*.build/module.modulemap; do maps+=(-Xcc -fmodule-map-file="$map"); done
    rm -rf "$folder"
    for module in Tether TetherTesting TetherVerification; do
        archive=$folder/$module.doccarchive
        mkdir -p "$folder/symbols/$module"
        swift symbolgraph-extract -module-name $module -target "$target" -I "$products/Modules" "${maps[@]}" \
            -minimum-access-level public -skip-synthesized-members -emit-extension-block-symbols \
            -output-dir "$folder/symbols/$module"
        limited docc convert "Sources/$module/$module.docc" --additional-symbol-graph-dir "$folder/symbols/$module" \
            --fallback-display-name $module --fallback-bundle-identifier "tether.$module" --fallback-default-module-kind Library \
            --enable-experimental-external-link-support --enable-experimental-overloaded-symbol-presentation \
            "${dependencies[@]}" --transform-for-static-hosting --warnings-as-errors --output-path "$archive"
        archives+=("$archive") dependencies+=(--dependency "$archive")
    done
    docc merge "${archives[@]}" --synthesized-landing-page-name Tether --synthesized-landing-page-kind Package \
        --output-path "$folder/site"
    # A site's root shows nothing of its own; an address that is relative leads on under any host and folder.
    echo '<!doctype html><title>Tether</title><meta http-equiv="refresh" content="0; url=documentation/tether/">' \
        >"$folder/site/index.html"
}

pages() {
    local sudo=()
    ((EUID == 0)) || sudo=(sudo)
    hash chromium python3 || { "${sudo[@]}" apt-get update && "${sudo[@]}" apt-get install --yes --no-install-recommends chromium python3; }
    documentation
    limited python3 .ci/documentation-pages "$build/documentation/site" | tee "$logs/pages.summary"
}
