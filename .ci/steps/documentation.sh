# The public interface of the three libraries, and their documentation, as one site of static pages.

libraries=(Tether TetherTesting TetherVerification)

# Sets the options with which the toolchain's tools find the modules of the debug build.
module_options() {
    local products=$PWD/$build/debug map
    options=(-target "$(swift -print-target-info | sed -n 's/.*"unversionedTriple": "\(.*\)".*/\1/p')" -I "$products/Modules")
    for map in "$products"/C*.build/module.modulemap; do options+=(-Xcc -fmodule-map-file="$map"); done
}

# The public interface of the libraries, without comments. A change is in the diff of its commit, or fails.
public_interface() {
    local folder=$build/interface module options
    debug_build
    module_options
    mkdir -p "$folder"
    for module in "${libraries[@]}"; do
        swift-synthesize-interface -module-name $module "${options[@]}" | grep -vE '^ *(///.*|deinit)?$|^import ' >"$folder/$module.txt"
    done
    if ! diff -u Tests/PublicInterface "$folder"; then
        echo "The public interface has changed. If it should: cp $folder/*.txt Tests/PublicInterface"
        return 1
    fi
}

# The work of the compiler for users' calls.
type_checking() {
    debug_build
    Tests/Tools/Benchmarks/type-checking $build/debug
}

documentation() {
    local folder=$PWD/$build/documentation archives=() dependencies=() module archive options
    debug_build
    module_options
    rm -rf "$folder"
    for module in "${libraries[@]}"; do
        archive=$folder/$module.doccarchive
        mkdir -p "$folder/symbols/$module"
        swift symbolgraph-extract -module-name $module "${options[@]}" \
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
    # The title of all pages. The renderer asks for the title before it has read theme-settings.json.
    sed -i -e 's/\["meta","title"\],"Documentation"/["meta","title"],"Tether"/' \
        -e 's/"documentation":{"title":"Documentation"/"documentation":{"title":"Tether"/' "$folder"/site/js/index.*.js
    # The root of a site is empty, so it redirects. The relative address works on any host and in any folder.
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
