#include "protocol/rpc/rpc_peer.h"

void rpc_peer_enter(struct rpc_peer *peer) {
    peer->entered++;
}

void rpc_peer_leave(struct rpc_peer *peer) {
    if (--peer->entered == 0 && peer->dead) {
        frame_decoder_free(peer->decoder);
        free(peer);
    }
}

void rpc_peer_release(struct rpc_peer *peer, json_t *message, size_t bytes) {
    if (peer && !peer->dead && bytes > RPC_INLINE_PARSE && peer->events.release) {
        peer->events.release(message, peer->data);
    } else {
        json_decref(message);
    }
}

bool rpc_peer_has_room(const struct rpc_peer *peer) {
    return peer->call_count < RPC_MAX_PENDING &&
           peer->call_bytes + peer->max_body <= RPC_MAX_PENDING_BYTES;
}

void rpc_peer_tell_room(struct rpc_peer *peer) {
    bool was = peer->full || peer->refuses;
    if (was && rpc_peer_has_room(peer) && !peer->dead) {
        peer->refuses = false;
        peer->events.room(peer, peer->data);
    }
}
