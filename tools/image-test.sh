#!/bin/sh
# Proves the image and the release, without a registry:
#
#   tools/image-test.sh IMAGE VERSION COMMIT
#
# The two bases of the Dockerfile are made on the spot: one of busybox and this machine's Go with
# its module cache, one with nothing but certificates and a user, as distroless static has it.
# It does so for the processors in ARCHS, and needs root, and podman, buildah and a static busybox,
# which it installs on Debian.
set -eu
image=$1 version=$2 commit=$3
cd "$(dirname "$0")/.."
failures=0

# check SENTENCE GOT WANT
check() {
  if [ "$2" = "$3" ]; then
    echo "ok: $1"
  else
    echo "FAILED: $1: it is \"$2\", and has to be \"$3\""
    failures=$((failures + 1))
  fi
}

digest() {
  sha256sum "$1" | cut -d ' ' -f 1
}

command -v podman >/dev/null && command -v buildah >/dev/null && [ -x /bin/busybox ] || {
  echo "installing podman, buildah and busybox-static, which this test needs"
  apt-get update -qq && apt-get install -y -qq --no-install-recommends podman buildah busybox-static
}

work=$(mktemp -d)
# In a store of its own, so that nothing stays behind, and no image of yours is replaced.
cat > "$work/storage.conf" <<END
[storage]
driver = "vfs"
graphroot = "$work/images"
runroot = "$work/run"
END
export CONTAINERS_STORAGE_CONF="$work/storage.conf" BUILDAH_ISOLATION=chroot
trap 'rm -rf "$work"' EXIT

echo "== the bases"
mkdir -p "$work/go/bin" "$work/base/etc/ssl/certs" "$work/out"
chmod 0777 "$work/out"
cp /bin/busybox "$work/go/bin/busybox"
cat > "$work/go/Dockerfile" <<'END'
FROM scratch
COPY bin /bin
RUN ["/bin/busybox", "ln", "-s", "busybox", "/bin/sh"]
ENV PATH=/usr/local/go/bin:/bin GOPATH=/go GOCACHE=/cache GOTOOLCHAIN=local GOPROXY=off TMPDIR=/
END
cp /etc/ssl/certs/ca-certificates.crt "$work/base/etc/ssl/certs"
printf 'FROM scratch\nCOPY etc /etc\nUSER 65532\n' > "$work/base/Dockerfile"
podman build --quiet --pull=never --network=host --tag localhost/test-go "$work/go"

# The folders of this machine that the build works with: Go, the modules, what was compiled before.
export IMAGE_FLAGS="--pull=never --network=host --no-cache \
  --build-arg GO_IMAGE=localhost/test-go --build-arg BASE_IMAGE=localhost/test-base \
  --volume $(go env GOROOT):/usr/local/go:ro --volume $(go env GOMODCACHE):/go/pkg/mod:ro \
  --volume $(go env GOCACHE):/cache"
for turn in 1 2; do
  echo "== release $turn"
  for arch in $ARCHS; do
    # A local image is for one processor only. A real base is the same each time too.
    podman build --quiet --no-cache --timestamp 0 --pull=never --platform "linux/$arch" --tag localhost/test-base "$work/base"
    make --no-print-directory release ARCHS="$arch" RELEASE="$work/release$turn/$arch"
  done
done

echo "== what came of it"
for arch in $ARCHS; do
  name=controller-manager-$version-linux-$arch
  release=$work/release1/$arch
  check "two releases for $arch have the same three checksums" \
    "$(wc -l < "$release/SHA256SUMS") $(digest "$release/SHA256SUMS")" \
    "3 $(digest "$work/release2/$arch/SHA256SUMS")"
  tar --extract --gzip --directory "$work" --file "$release/$name.tar.gz"
  podman load --quiet --input "$release/$name-image.tar"
  check "the image for $arch is for that" "$(podman inspect --format '{{.Os}}/{{.Architecture}}' "$image")" "linux/$arch"
  check "its user is nobody's" "$(podman inspect --format '{{.Config.User}}' "$image")" 65532:65532
  check "it starts the program" "$(podman inspect --format '{{.Config.Entrypoint}} {{.Config.Cmd}}' "$image")" "[/controller-manager] []"
  container=$(buildah from --pull-never "$image")
  check "its program is that of the archive" \
    "$(digest "$(buildah mount "$container")/controller-manager")" "$(digest "$work/$name/controller-manager")"
  check "the list of contents has this version, and a module" \
    "$(grep -oE 'pkg:golang/(controller-manager|k8s.io/client-go)@[v.0-9]+' "$release/$name.cdx.json" | sort -u | xargs)" \
    "pkg:golang/controller-manager@$version pkg:golang/k8s.io/client-go@$(go list -m -f '{{.Version}}' k8s.io/client-go)"
  [ "$arch" = "$(go env GOARCH)" ] || { buildah rm "$container" >/dev/null; continue; }
  # Into a file: of what a short program prints, buildah sometimes loses the end.
  buildah copy --quiet "$container" /bin/busybox /busybox >/dev/null
  buildah run --volume "$work/out:/out" "$container" -- \
    /busybox sh -c '/controller-manager --version > /out/version; /busybox id -u > /out/user'
  check "it says its version" "$(cat "$work/out/version")" \
    "controller-manager $version (commit $commit, $(go env GOVERSION))"
  check "it runs as that user" "$(cat "$work/out/user")" 65532
  buildah rm "$container" >/dev/null
done
check "the manifests name this image" \
  "$(grep -rhoE --include='*.yaml' 'image: controller-manager.*' deploy | sort -u)" "image: ${image#docker.io/library/}"

[ $failures -eq 0 ] || { echo "$failures checks failed"; exit 1; }
